mod crash;
mod drift;
mod guards;
mod moved;
mod round;
mod stock;

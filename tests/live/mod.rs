mod crash;
mod drift;
mod guards;
mod moved;
mod refusals;
mod round;
mod stock;

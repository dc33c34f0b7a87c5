mod guards;
mod round;
mod stock;

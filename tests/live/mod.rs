mod round;
mod stock;

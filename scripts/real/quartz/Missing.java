package flowmend;

/** A job whose class most nodes lack. */
public class Missing extends Work {}

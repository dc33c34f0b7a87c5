package flowmend;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.quartz.utils.ConnectionProvider;

/** A new connection each time, to what the environment says. */
public class Connections implements ConnectionProvider {
    @Override
    public Connection getConnection() throws SQLException {
        return DriverManager.getConnection(
                System.getenv("QUARTZ_URL"), System.getenv("QUARTZ_USER"), System.getenv("QUARTZ_PASSWORD"));
    }

    @Override
    public void initialize() {}

    @Override
    public void shutdown() {}
}

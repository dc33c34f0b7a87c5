package flowmend;

import static org.quartz.JobBuilder.newJob;
import static org.quartz.SimpleScheduleBuilder.repeatSecondlyForever;
import static org.quartz.SimpleScheduleBuilder.simpleSchedule;
import static org.quartz.TriggerBuilder.newTrigger;

import java.util.Date;
import java.util.Properties;
import org.quartz.Job;
import org.quartz.JobDetail;
import org.quartz.Scheduler;
import org.quartz.Trigger;
import org.quartz.TriggerKey;
import org.quartz.impl.StdSchedulerFactory;

/**
 * A scheduler of Quartz in a process of its own.
 *
 * <pre>
 *   store NAME   puts the jobs and triggers into the tables
 *   run NAME     runs a node until it is ended
 * </pre>
 *
 * A node is clustered if its name begins so.
 */
public final class Node {
    private static final String STORE = "org.quartz.jobStore.";

    private Node() {}

    private static Scheduler scheduler(String name) throws Exception {
        Properties settings = new Properties();
        settings.setProperty("org.quartz.scheduler.instanceName", "flowmend");
        settings.setProperty("org.quartz.scheduler.instanceId", name);
        settings.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
        settings.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
        settings.setProperty("org.quartz.threadPool.threadCount", "6");
        settings.setProperty(STORE + "class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
        settings.setProperty(STORE + "driverDelegateClass", System.getenv("QUARTZ_DELEGATE"));
        settings.setProperty(STORE + "isClustered", String.valueOf(name.startsWith("cluster")));
        settings.setProperty(STORE + "clusterCheckinInterval", "2000");
        // A trigger that is late is found soon.
        settings.setProperty(STORE + "misfireThreshold", "15000");
        settings.setProperty(STORE + "dataSource", "tables");
        settings.setProperty("org.quartz.dataSource.tables.connectionProvider.class", "flowmend.Connections");
        return new StdSchedulerFactory(settings).getScheduler();
    }

    private static JobDetail job(String name, Class<? extends Job> kind, boolean durable, boolean again) {
        return newJob(kind).withIdentity(name, "tests").storeDurably(durable).requestRecovery(again).build();
    }

    private static Trigger every(int seconds, String name, JobDetail job) {
        return newTrigger().withIdentity(name, "tests").forJob(job)
                .withSchedule(repeatSecondlyForever(seconds)).build();
    }

    private static Trigger once(String name, JobDetail job) {
        return newTrigger().withIdentity(name, "tests").forJob(job).withSchedule(simpleSchedule()).build();
    }

    private static void store(Scheduler scheduler) throws Exception {
        // Runs one at a time; its other trigger is paused.
        JobDetail alone = job("alone", Work.Alone.class, true, false);
        scheduler.addJob(alone, true);
        scheduler.scheduleJob(every(3, "alone", alone));
        scheduler.scheduleJob(every(4, "alone-paused", alone));
        scheduler.pauseTrigger(new TriggerKey("alone-paused", "tests"));
        // The same, and wants to be run again after a crash.
        JobDetail again = job("again", Work.Alone.class, true, true);
        scheduler.addJob(again, true);
        scheduler.scheduleJob(every(3, "again", again));
        // Runs once, and then is no more.
        JobDetail single = job("single", Work.Alone.class, false, false);
        scheduler.scheduleJob(single, once("single", single));
        // Short, as often as it is due.
        JobDetail quick = job("quick", Work.class, true, false);
        scheduler.addJob(quick, true);
        scheduler.scheduleJob(every(2, "quick", quick));
        // Due in a while: an idle node holds it meanwhile.
        scheduler.scheduleJob(newTrigger().withIdentity("later", "tests").forJob(quick)
                .startAt(new Date(System.currentTimeMillis() + 25_000)).withSchedule(repeatSecondlyForever(25)).build());
        // Nodes do not have its class, but for those that are "full". It is due when
        // they are up: one that is late already never comes to ERROR, and stops the
        // handling of all that are late.
        JobDetail missing = job("missing", kindOfMissing(), true, false);
        scheduler.addJob(missing, true);
        scheduler.scheduleJob(newTrigger().withIdentity("missing", "tests").forJob(missing)
                .startAt(new Date(System.currentTimeMillis() + 15_000)).withSchedule(repeatSecondlyForever(3)).build());
        scheduler.shutdown();
    }

    private static Class<? extends Job> kindOfMissing() throws ClassNotFoundException {
        return Class.forName("flowmend.Missing").asSubclass(Job.class);
    }

    public static void main(String[] arguments) throws Exception {
        Scheduler scheduler = scheduler(arguments[1]);
        if (arguments[0].equals("store")) {
            store(scheduler);
            return;
        }
        scheduler.start();
        System.out.println("Node is up");
    }
}

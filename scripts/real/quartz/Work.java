package flowmend;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;

/** Writes down when it begins and ends; takes as many seconds as JOB.seconds says. */
public class Work implements Job {
    private static final Path MARKS = Paths.get(System.getenv("QUARTZ_MARKS"));

    /** The same, one at a time. */
    @DisallowConcurrentExecution
    public static class Alone extends Work {}

    @Override
    public void execute(JobExecutionContext context) throws JobExecutionException {
        String job = context.getJobDetail().getKey().getName();
        try {
            mark(job, "begin", context);
            Path seconds = MARKS.resolve(job + ".seconds");
            if (Files.exists(seconds)) {
                Thread.sleep(1000L * Long.parseLong(new String(Files.readAllBytes(seconds), StandardCharsets.UTF_8).trim()));
            }
            mark(job, "end", context);
        } catch (Exception fault) {
            throw new JobExecutionException(fault);
        }
    }

    private static synchronized void mark(String job, String what, JobExecutionContext context) throws Exception {
        String line = what + " " + context.getScheduler().getSchedulerInstanceId() + " "
                + context.getTrigger().getKey() + (context.isRecovering() ? " recovering" : "") + "\n";
        Files.write(MARKS.resolve(job), line.getBytes(StandardCharsets.UTF_8),
                StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs JUnit on the named classes and reports each test while it runs: tab-separated fields, escaped texts. */
public final class StetJUnit implements TestExecutionListener {
    private final PrintWriter side;
    private TestPlan plan;

    private StetJUnit(PrintWriter side) {
        this.side = side;
    }

    public static void main(String[] classes) throws Exception {
        var side = new PrintWriter(new FileOutputStream("/proc/self/fd/" + System.getenv("BOX_SIDE_FD")), true);
        var request = LauncherDiscoveryRequestBuilder.request();
        Arrays.stream(classes).forEach(name -> request.selectors(selectClass(name)));
        LauncherFactory.create().execute(request.build(), new StetJUnit(side));
        side.println("STET_TOKEN\tdone");
        System.exit(0);
    }

    @Override
    public void testPlanExecutionStarted(TestPlan started) {
        plan = started;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.isTest()) say("start", test);
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        plan.getDescendants(test).stream().filter(TestIdentifier::isTest).forEach(each -> say("skip", each, reason));
        if (test.isTest()) say("skip", test, reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        var thrown = result.getThrowable().orElse(null);
        if (!test.isTest() && thrown == null) return;
        var stack = new StringWriter();
        if (thrown != null) thrown.printStackTrace(new PrintWriter(stack));
        var kind = thrown == null ? "" : thrown.getClass().getName();
        var message = thrown == null || thrown.getMessage() == null ? "" : thrown.getMessage();
        var status = result.getStatus() == TestExecutionResult.Status.ABORTED ? "skip" : thrown == null ? "pass" : "fail";
        say(status, test, message, kind, stack.toString());
    }

    private void say(String event, TestIdentifier test, String... more) {
        var line = new StringBuilder("STET_TOKEN\t").append(event).append('\t').append(name(test));
        for (var each : more) line.append('\t').append(escaped(each.length() > 6000 ? each.substring(0, 6000) : each));
        side.println(line);
    }

    private static String name(TestIdentifier test) {
        var source = test.getSource().orElse(null);
        if (source instanceof MethodSource method) {
            var display = test.getLegacyReportingName();
            var part = display.contains("[") ? display.substring(display.indexOf('[')) : "";
            return method.getClassName() + "::" + method.getMethodName() + escaped(part);
        }
        return source instanceof ClassSource type ? type.getClassName() : escaped(test.getDisplayName());
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\r", "").replace("\n", "\\n");
    }
}

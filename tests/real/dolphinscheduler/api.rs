//! The scheduler's own REST interface, as its web pages use it.

use serde_json::{Value, json};

use super::releases::Release;

/// Somebody who is logged in.
pub struct Api {
    base: String,
    session: String,
    release: &'static Release,
}

/// What the API says while it knows no master; from 3.3 on, when none answers.
const NO_MASTER: [i64; 2] = [10025, 50014];

/// A task of a workflow to make.
pub enum Task<'a> {
    /// A script, in a task group or none (0).
    Shell { name: &'a str, script: String, group: i64 },
    /// Another workflow.
    Sub { name: &'a str, workflow: i64 },
}

/// The user that tasks run as; without sudo it must be the one who runs the test.
fn tenant() -> String {
    let output = std::process::Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Api {
    pub fn new(port: &str, release: &'static Release) -> Self {
        Self { base: format!("http://127.0.0.1:{port}/dolphinscheduler"), session: String::new(), release }
    }

    /// Logs in as the administrator that every fresh schema has.
    pub fn login(&mut self) {
        let data = self.post("/login", &[("userName", "admin"), ("userPassword", "dolphinscheduler123")]);
        self.session = data["sessionId"].as_str().unwrap().to_owned();
        self.post("/tenants", &[("tenantCode", &tenant()), ("queueId", "1"), ("description", "")]);
    }

    /// What the server says, which may be a refusal.
    pub fn ask(&self, path: &str, form: &[(&str, &str)]) -> Value {
        let path = self.release.say(path);
        let request = ureq::post(format!("{}{path}", self.base)).header("sessionId", &self.session);
        let form: Vec<(String, String)> =
            form.iter().map(|(k, v)| (self.release.say(k), self.release.say(v))).collect();
        request.send_form(form.iter().map(|(k, v)| (k.as_str(), v.as_str()))).unwrap().body_mut().read_json().unwrap()
    }

    /// The data of an answer, which must be a success.
    #[track_caller]
    pub fn post(&self, path: &str, form: &[(&str, &str)]) -> Value {
        data(path, self.ask(path, form))
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        let request = ureq::get(format!("{}{}", self.base, self.release.say(path))).header("sessionId", &self.session);
        data(path, request.call().unwrap().body_mut().read_json().unwrap())
    }

    /// A new project; its code.
    pub fn project(&self, name: &str) -> i64 {
        let made = self.post("/projects", &[("projectName", name), ("description", "")]);
        made["code"].as_i64().unwrap()
    }

    /// A new task group; its number.
    pub fn task_group(&self, project: i64, name: &str, size: &str) -> i64 {
        let project = project.to_string();
        let form = [("name", name), ("projectCode", project.as_str()), ("description", "x"), ("groupSize", size)];
        self.post("/task-group/create", &form);
        let listed = self.get("/task-group/list-paging?pageNo=1&pageSize=100");
        let groups = listed["totalList"].as_array().unwrap();
        groups.iter().find(|g| g["name"] == name).unwrap()["id"].as_i64().unwrap()
    }

    /// A new workflow whose tasks follow each other, online; its code.
    pub fn workflow(&self, project: i64, name: &str, kind: &str, tasks: &[Task]) -> i64 {
        let codes = self.get(&format!("/projects/{project}/task-definition/gen-task-codes?genNum={}", tasks.len()));
        let codes: Vec<i64> = codes.as_array().unwrap().iter().map(|c| c.as_i64().unwrap()).collect();
        let tasks_json: Vec<Value> = tasks.iter().zip(&codes).map(|(task, code)| definition(task, *code)).collect();
        let form = [
            ("name", name.to_owned()),
            ("description", String::new()),
            ("globalParams", "[]".to_owned()),
            ("locations", "[]".to_owned()),
            ("timeout", "0".to_owned()),
            ("tenantCode", tenant()),
            ("executionType", kind.to_owned()),
            ("taskDefinitionJson", Value::from(tasks_json).to_string()),
            ("taskRelationJson", Value::from(relations(&codes)).to_string()),
        ];
        let form: Vec<(&str, &str)> = form.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let made = self.post(&format!("/projects/{project}/process-definition"), &form);
        let code = made["code"].as_i64().unwrap();
        let path = format!("/projects/{project}/process-definition/{code}/release");
        self.post(&path, &[("name", name), ("releaseState", "ONLINE")]);
        code
    }

    /// Asks for a new run.
    pub fn start(&self, project: i64, workflow: i64) {
        let (workflow, tenant) = (workflow.to_string(), tenant());
        let form = [
            ("processDefinitionCode", workflow.as_str()),
            ("scheduleTime", ""),
            ("failureStrategy", "CONTINUE"),
            ("warningType", "ALL"),
            ("warningGroupId", "1"),
            ("processInstancePriority", "MEDIUM"),
            ("execType", "START_PROCESS"),
            ("tenantCode", &tenant),
        ];
        let path = format!("/projects/{project}/executors/start-process-instance");
        let mut answer = self.ask(&path, &form);
        // A master that is just up may not be known yet.
        for _ in 0..20 {
            if NO_MASTER.iter().all(|code| answer["code"] != *code) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(500));
            answer = self.ask(&path, &form);
        }
        data(&path, answer);
    }

    /// STOP, PAUSE, REPEAT_RUNNING …; what the server says.
    pub fn execute(&self, project: i64, run: &str, what: &str) -> Value {
        self.ask(
            &format!("/projects/{project}/executors/execute"),
            &[("processInstanceId", run), ("executeType", what)],
        )
    }

    /// The state of a run, by name.
    pub fn state(&self, project: i64, run: &str) -> String {
        self.get(&format!("/projects/{project}/process-instances/{run}"))["state"].as_str().unwrap_or("null").to_owned()
    }
}

#[track_caller]
fn data(path: &str, mut answer: Value) -> Value {
    assert_eq!(answer["code"], 0, "{path}: {answer}");
    answer["data"].take()
}

fn definition(task: &Task, code: i64) -> Value {
    let (name, kind, params, group) = match task {
        Task::Shell { name, script, group } => {
            (name, "SHELL", json!({ "localParams": [], "resourceList": [], "rawScript": script }), *group)
        }
        Task::Sub { name, workflow } => (
            name,
            "SUB_PROCESS",
            json!({ "localParams": [], "resourceList": [], "processDefinitionCode": workflow }),
            0,
        ),
    };
    json!({
        "code": code, "name": name, "description": "", "taskType": kind, "taskParams": params,
        "flag": "YES", "taskPriority": "MEDIUM", "workerGroup": "default", "environmentCode": -1,
        "failRetryTimes": 0, "failRetryInterval": 1, "timeoutFlag": "CLOSE", "timeoutNotifyStrategy": null,
        "timeout": 0, "delayTime": 0, "taskGroupId": group, "taskGroupPriority": 0, "cpuQuota": -1,
        "memoryMax": -1, "taskExecuteType": "BATCH", "isCache": "NO"
    })
}

/// Each task after the one before it.
fn relations(codes: &[i64]) -> Vec<Value> {
    let before = std::iter::once(0).chain(codes.iter().copied());
    let relation = |(pre, post): (i64, &i64)| {
        json!({
            "name": "", "preTaskCode": pre, "preTaskVersion": i64::from(pre != 0), "postTaskCode": post,
            "postTaskVersion": 1, "conditionType": "NONE", "conditionParams": {}
        })
    };
    before.zip(codes).map(relation).collect()
}

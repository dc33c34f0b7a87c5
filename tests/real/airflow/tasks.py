"""Tasks that write down when they begin and end, for the DAGs of the tests.

Marks go to marks/DAG below AIRFLOW_HOME; how many seconds a task takes stands in
marks/DAG.seconds.
"""
import os
import time
from datetime import datetime, timedelta, timezone

try:
    from airflow.providers.standard.operators.python import PythonOperator
    from airflow.providers.standard.triggers.temporal import DateTimeTrigger
    from airflow.sdk import DAG, BaseOperator
except ImportError:
    from airflow import DAG
    from airflow.models import BaseOperator
    from airflow.operators.python import PythonOperator
    from airflow.triggers.temporal import DateTimeTrigger

MARKS = os.path.join(os.environ["AIRFLOW_HOME"], "marks")


def seconds(name):
    with open(os.path.join(MARKS, name + ".seconds")) as file:
        return int(file.read())


def mark(name, what):
    with open(os.path.join(MARKS, name), "a") as file:
        file.write(what + "\n")


def work(name):
    mark(name, "begin")
    time.sleep(seconds(name))
    mark(name, "end")


class Wait(BaseOperator):
    """Waits in a trigger, without a process."""

    def execute(self, context):
        mark(self.dag_id, "begin")
        moment = datetime.now(timezone.utc) + timedelta(seconds=seconds(self.dag_id))
        self.defer(trigger=DateTimeTrigger(moment=moment), method_name="go_on")

    def go_on(self, context, event=None):
        mark(self.dag_id, "end")


def dag(name, kind, retries):
    """A DAG whose task `work` is followed by `after`, or is alone."""
    options = {"task_id": "work", "retries": retries, "retry_delay": timedelta(seconds=1)}
    with DAG(name, schedule=None, start_date=datetime(2024, 1, 1, tzinfo=timezone.utc), catchup=False) as made:
        if kind == "wait":
            first = Wait(**options)
        else:
            first = PythonOperator(python_callable=work, op_args=[name], **options)
        if kind != "alone":
            first >> PythonOperator(task_id="after", python_callable=mark, op_args=[name, "after"])
    return made

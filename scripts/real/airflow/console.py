"""Airflow's own command line, loaded once, for many commands.

To load it takes seconds. This listens on a socket; whoever connects sends the
arguments of one command as a line of JSON, and reads what it prints, with its
exit code in the last line. Every command runs in a fork of its own.
"""
import json
import os
import socketserver
import sys
import traceback

from airflow.__main__ import main
from airflow.cli import cli_parser
from airflow.cli.commands import dag_command  # noqa: F401  loaded for the forks


class Command(socketserver.StreamRequestHandler):
    def handle(self):
        arguments = json.loads(self.rfile.readline())
        child = os.fork()
        if child == 0:
            os._exit(self.run(arguments))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self.wfile.write(f"\nexit {code}\n".encode())

    def run(self, arguments):
        for output in (1, 2):
            os.dup2(self.connection.fileno(), output)
        sys.argv = ["airflow", *arguments]
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        return code


if __name__ == "__main__":
    cli_parser.get_parser()
    with socketserver.UnixStreamServer(sys.argv[1], Command) as server:
        print("Console is up", flush=True)
        server.serve_forever()

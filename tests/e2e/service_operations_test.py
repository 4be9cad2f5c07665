"""`radlc serve`: what clients do with infrastructures and machines that exist."""
import json

from service_case import DOCUMENT, ServiceCase

# Without Ansible: these tests are about machines.
MACHINES = """\
network outside (outbound = 'yes' and outports = '80/tcp')
network inside ()
system front (cpu.count >= 1 and memory.size >= 128m and net_interface.0.connection = 'outside' and net_interface.1.connection = 'inside')
system worker (cpu.count >= 1 and memory.size >= 128m and net_interface.0.connection = 'inside')
deploy front 1
deploy worker 1
"""

TOSCA = """\
tosca_definitions_version: tosca_simple_yaml_1_0
topology_template:
  inputs:
    cpus: {type: integer, default: 1}
  node_templates:
    web-server:
      type: tosca.nodes.indigo.Compute
      capabilities:
        host: {properties: {num_cpus: {get_input: cpus}, mem_size: 128 MB}}
        endpoint: {properties: {network_name: PUBLIC, ports: {http: {protocol: tcp, source: 80}}}}
        scalable: {properties: {count: 2}}
  outputs:
    address: {value: {get_attribute: [web-server, private_address, 0]}}
    text: {value: hello}
"""


class ServiceOperationsTest(ServiceCase):
    def test_failed_recipes_of_others_keep_nothing_from_leaving_or_stopping(self):
        path = self.create(DOCUMENT.replace("command: echo said-by-ansible", "command: 'false'"))
        self.wait_for(path, "unconfigured")
        self.assertEqual(self.ask("DELETE", path + "/vms/1")[0], 200)
        self.assertEqual(self.states(path)[1], {"0": "unconfigured"})
        self.assertEqual(self.ask("PUT", path + "/stop")[0], 200)
        self.assertEqual(self.states(path)[1], {"0": "stopped"})

    def test_errors_of_an_addition_name_no_file_of_the_service(self):
        path = self.create(DOCUMENT.replace("cpu.count >= 1 and", "cpu.count >= 1 and disk.0.os.credentials.password = 'plain' and", 1))
        status, text, _ = self.ask("POST", path, "deploy nobody 1")
        self.assertEqual(status, 400)
        self.assertIn("E0302", text)
        self.assertNotIn(str(self.folder), text)
        self.assertNotIn("warning", text)
        self.wait_for(path, "configured")

    def test_machines_stop_start_and_reboot(self):
        path = self.create(MACHINES)
        self.wait_for(path, "configured")
        self.assertEqual(self.ask("PUT", path + "/stop")[:2], (200, ""))
        self.assertEqual(self.states(path), ("stopped", {"0": "stopped", "1": "stopped"}))
        self.assertEqual(self.ask("PUT", path + "/stop")[0], 200)  # they are stopped already
        self.assertEqual(self.ask("PUT", path + "/vms/0/reboot")[0], 400)
        self.assertEqual(self.ask("PUT", path + "/vms/0/start")[:2], (200, ""))
        self.assertEqual(self.states(path)[1], {"0": "configured", "1": "stopped"})
        self.assertEqual(self.ask("PUT", path + "/start")[0], 200)
        self.assertEqual(self.states(path)[0], "configured")
        self.assertEqual(self.ask("PUT", path + "/vms/1/reboot")[0], 200)
        self.assertEqual(self.ask("PUT", path + "/vms/1/stop")[0], 200)
        self.assertEqual(self.ask("GET", path + "/vms/1/state")[:2], (200, "stopped"))
        self.stop()
        self.serve(port=self.port)
        self.assertEqual(self.states(path)[1], {"0": "configured", "1": "stopped"})
        # A change of the infrastructure wants all of its machines to run.
        self.assertEqual(self.ask("PUT", path + "/reconfigure")[0], 200)
        self.wait_for(path, "configured")
        for request, status in (("/vms/9/stop", 404), ("/vms/0/dance", 422), ("/dance", 422), ("/vms/0/disks/0/snapshot", 400)):
            self.assertEqual(self.ask("PUT", path + request)[0], status, request)
        status, body, _ = self.ask("PUT", path + "/vms/0/disks/0/snapshot", query="?image_name=x")
        self.assertEqual(status, 400, body)  # local nodes have no images

    def test_a_machine_is_described_in_radl(self):
        path = self.create(MACHINES)
        self.wait_for(path, "configured")
        text = self.ask("GET", path + "/vms/0")[1]
        self.assertIn("system front", text)
        self.assertIn("disk.0.os.credentials.private_key", text)
        self.assertIn("PRIVATE KEY", self.ask("GET", path + "/vms/0/disk.0.os.credentials.private_key")[1])
        status, body, _ = self.ask("POST", "/infrastructures", text, query="?dry_run=1")
        self.assertEqual(status, 200, body)

    def test_a_machine_is_altered(self):
        path = self.create(MACHINES)
        self.wait_for(path, "configured")
        status, body, _ = self.ask("PUT", path + "/vms/1", "system any (memory.size >= 256m)", form="application/json")
        self.assertEqual(status, 200, body)
        system = next(part for part in body["radl"] if part["class"] == "system")
        self.assertEqual((system["id"], system["memory.size_min"]), ("worker", 256000000))
        self.wait_for(path, "configured")
        before = self.ask("GET", path + "/radl")[1]
        self.assertEqual(self.ask("POST", path, "deploy worker 1\n")[0], 200)
        self.assertEqual(self.ask("PUT", path + "/vms/1", "system worker (memory.size >= 512m)")[0], 400)  # shared by two machines
        self.assertEqual(self.ask("PUT", path + "/vms/0", "network x ()")[0], 400)
        self.assertEqual(self.ask("GET", path + "/radl")[1].replace("deploy worker 2", "deploy worker 1"), before)

    def test_a_dry_run_creates_nothing(self):
        document = MACHINES.replace("system worker (", "system worker (disk.0.os.name = 'linux' and disk.1.size = 20g and disk.1.device = 'sdb' and ")
        status, body, _ = self.ask("POST", "/infrastructures", document, query="?dry_run=yes")
        self.assertEqual(status, 200, body)
        cloud = body["local"]
        self.assertEqual([machine.get("publicIP", 0) for machine in cloud["compute"]], [1, 0])
        self.assertEqual(cloud["compute"][1]["memoryInMegabytes"], 128)
        self.assertEqual([disk["sizeInGigabytes"] for disk in cloud["storage"]], [20])
        self.assertEqual(self.ask("POST", "/infrastructures", "network n ()", query="?dry_run=1")[:2], (200, {}))
        self.assertEqual(self.ask("GET", "/infrastructures")[1], "")
        self.assertEqual(self.ask("POST", "/infrastructures", "deploy nothing 1", query="?dry_run=1")[0], 400)

    def test_statistics_outlive_their_infrastructure(self):
        path = self.create(MACHINES)
        self.wait_for(path, "configured")
        entry = self.ask("GET", "/stats")[1]["stats"][0]
        self.assertEqual((entry["vm_count"], entry["deleted"], entry["inf_id"]), (2, False, path.rpartition("/")[2]))
        self.assertEqual(self.ask("DELETE", path)[0], 200)
        self.assertTrue(self.ask("GET", "/stats")[1]["stats"][0]["deleted"])
        self.assertEqual(self.ask("GET", "/stats", form="text/csv")[1].splitlines()[0].split(",")[0], "inf_id")
        self.assertEqual(self.ask("GET", "/stats", query="?init_date=2001-01-01&end_date=2001/01/02")[1], {"stats": []})
        self.assertEqual(self.ask("GET", "/stats", query="?init_date=yesterday")[0], 400)

    def test_an_infrastructure_moves(self):
        path = self.create("network n ()")
        self.wait_until(lambda: self.states(path)[0] == "failed", 30)
        data = self.ask("GET", path + "/data", query="?delete=yes")[1]["data"]
        self.assertEqual(json.loads(data)["radl"].strip(), "network n ()")
        self.assertEqual(self.ask("GET", path)[0], 404)
        status, uri, _ = self.ask("PUT", "/infrastructures", data)
        self.assertEqual((status, self.path(uri)), (200, path))
        self.assertEqual(self.ask("PUT", "/infrastructures", data)[0], 409)
        self.assertEqual(self.ask("PUT", "/infrastructures", "{}")[0], 400)
        evil = dict(json.loads(data), id="00000000-0000-4000-8000-000000000000", state={"../../../outside": "eA=="})
        self.assertEqual(self.ask("PUT", "/infrastructures", json.dumps(evil))[0], 400)
        self.assertEqual(self.found("outside"), [])

    def test_machines_of_this_computer_do_not_move(self):
        path = self.create(MACHINES)
        self.wait_for(path, "configured")
        self.assertEqual(self.ask("GET", path + "/data")[0], 400)
        self.assertEqual(self.ask("GET", path)[0], 200)

    def test_tosca(self):
        status, uri, _ = self.ask("POST", "/infrastructures", TOSCA, Content_Type="text/yaml")
        self.assertEqual(status, 200, uri)
        path = self.path(uri)
        self.wait_for(path, "configured")
        self.assertEqual(len(self.states(path)[1]), 2)
        outputs = self.ask("GET", path + "/outputs")[1]["outputs"]
        self.assertEqual(outputs["text"], "hello")
        self.assertIn(".", outputs["address"])
        self.assertEqual(self.ask("GET", path + "/tosca")[1], TOSCA)
        self.stop()
        self.serve(port=self.port)
        self.assertEqual(self.ask("GET", path + "/outputs")[1]["outputs"], outputs)
        for wrong, words in ((TOSCA.replace("num_cpus: {get_input: cpus}", "colour: red"), "host.colour"),
                             (TOSCA.replace("default: 1", "description: x"), "cpus"), ("topology_template: [", "line"), ("a: b", "topology_template")):
            status, body, _ = self.ask("POST", "/infrastructures", wrong, Content_Type="text/yaml")
            self.assertEqual(status, 400, body)
            self.assertIn(words, body)

    def test_clouds(self):
        self.assertEqual(self.ask("GET", "/clouds/local/images")[:2], (200, {"images": []}))
        self.assertIn("cores", self.ask("GET", "/clouds/local/quotas")[1]["quotas"])
        self.assertEqual(self.ask("GET", "/clouds/none/images")[0], 404)
        self.assertEqual(self.ask("GET", "/clouds/local/nothing")[0], 422)

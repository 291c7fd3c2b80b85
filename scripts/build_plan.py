"""Reads the plan that SwiftPM writes for a build: which modules a target reaches. The plan itself lists every target of every package."""

import json
import re


def modules(path, target):
    """Returns the modules that a target of a plan compiles.

    path      the plan, such as .build/debug.yaml
    target    the beginning of the name of a target of the plan: `test`, or a product such as `client-`
    """
    producers, inputs, targets, command = {}, {}, {}, None
    for line in path.read_text().splitlines():
        if found := re.match(r'  "(.*)":(?: (\[.*\]))?$', line):
            command, nodes = found.groups()
            if nodes:
                targets[command] = json.loads(nodes)
        elif found := re.match(r"    (inputs|outputs): (\[.*\])$", line):
            nodes = json.loads(found[2])
            if found[1] == "inputs":
                inputs[command] = nodes
            else:
                for node in nodes:
                    producers[node] = command
    todo, reached = [node for name, nodes in targets.items() if name == target or target.endswith("-") and name.startswith(target) for node in nodes], set()
    while todo:
        node = todo.pop()
        if node not in reached:
            reached.add(node)
            todo += inputs.get(producers.get(node), [])
    return {match[1] for node in reached if (match := re.search(r"/(\w+?)(?:-tool)?\.build/.*\.o$", node))}

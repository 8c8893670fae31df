import { runTool } from './run-tool.js'

const USAGE = `usage: npm test [-- [NAME…] [ARGUMENT…]]

  npm test                   the tests that take seconds each, and those of one Redis server
  npm test -- long           schedules, fleets of processes, and packages as they are published
  npm test -- servers        the stores on real servers
  npm test -- mutants        the deliberate bugs: each has to be noticed
  npm test -- clusters       clusters of etcd and Consul whose members are killed: on a quiet machine
  npm test -- packages/core  the tests whose paths contain this, of all these kinds, with the options of vitest
`

const projects = ['fast', 'long', 'servers', 'mutants', 'clusters']

/** The projects of vitest, where they are not one with the same name. */
const parts: Readonly<Record<string, readonly string[]>> = {
  fast: ['fast', 'alone'],
  servers: ['servers', 'servers-blobs'],
  clusters: ['servers'],
}

const argv = process.argv.slice(2)
const first = argv.findIndex((argument) => !projects.includes(argument))
const named = argv.slice(0, first < 0 ? undefined : first)
// The clusters take the place of the other tests on servers, with settings of their own.
if (named.includes('clusters')) process.env.TEST_CLUSTERS = '1'
const names = (argv.length === 0 ? ['fast'] : named).flatMap((name) => parts[name] ?? [name])
const options = [...names.flatMap((name) => ['--project', name]), ...argv.slice(named.length)]

if (argv.includes('--help')) console.log(USAGE)
else if (!runTool('vitest', ['run', ...options])) process.exitCode = 1

import { defineConfig } from 'vitest/config'
import { ClosingLineReporter } from './tools/closing-line-reporter.js'

const conditions = ['@leasehold/source']

const all = ['packages/*/test/**/*.test.ts', 'examples/*/test/**/*.test.ts', 'tools/test/**/*.test.ts']

/** Tests that need a server. */
const served = [
  'packages/{azure-blob,redis}/test/**/*.test.ts',
  'examples/{azure-blob,container-migration,redis}/test/**/*.test.ts',
]

/** The store on the Kubernetes API, with a real API server where there is one: `npm run test:kubernetes`. */
const kubernetes = ['packages/kubernetes/test/**/*.test.ts', 'examples/kubernetes/test/**/*.test.ts']

/** Deliberate bugs, each built and run until a test catches it: `npm run test:mutants`. */
const mutants = [
  'packages/recipes/test/**/mutants.test.ts',
  'testing/simulator/test/mutants/mutants.test.ts',
  'packages/*/test/**/unit-mutants.test.ts',
]

/** The stores on etcd and Consul, on real servers: `npm run test:consensus`. */
const consensus = [
  'packages/{etcd,consul}/test/**/*.test.ts',
  'packages/recipes/test/servers/{etcd,consul}-laws.test.ts',
  'examples/{etcd,consul}/test/**/*.test.ts',
]

/**
 * Clusters of three whose members are killed and stopped: `npm run test:clusters`. An election on a busy machine can take
 * longer than a ttl, so that a run on one proves nothing.
 */
const clusters = ['packages/{etcd,consul}/test/chaos/**/*.test.ts']

/** The recipes over processes, a Redis server and simulated schedules: `npm run test:recipes`. */
const recipes = ['packages/recipes/test/*/{processes,redis-laws,simulation,thread-laws}.test.ts']

/** Packages as they are published, above all the program `leasehold`, with commands, terminals and servers: `npm run test:cli`. */
const cli = [
  'packages/cli/test/{binary,run}/**/*.test.ts',
  'packages/core/test/published/*.test.ts',
  'tools/test/published/*.test.ts',
]

/** The store in PostgreSQL on real servers, which the tests kill, stop, cut off and fill: `npm run test:postgres`. */
const postgres = [
  'packages/postgres/test/**/*.test.ts',
  'packages/recipes/test/servers/postgres-laws.test.ts',
  'examples/postgres/test/**/*.test.ts',
]

/** Tests that take more than about ten seconds each: thousands of schedules, fleets of processes. */
const long = [
  'testing/simulator/test/*.test.ts',
  'packages/core/test/thread/{heartbeat-thread,laws,processes}.test.ts',
  'packages/local/test/{thread-laws,threads,processes,self-fence}.test.ts',
  'packages/actor/test/{heartbeat-thread,linear,schedules}.test.ts',
  'packages/config/test/hostile.test.ts',
  'examples/{cron,failover,hocon,jobs,pipeline,testing}/test/**/*.test.ts',
  'tools/test/time-lint.test.ts',
]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // A process a file: tests send signals, open native stores and count timers.
    pool: 'forks',
    // Tests that wait for leases to expire do so side by side.
    maxConcurrency: 40,
    projects: [
      {
        extends: true,
        // Some wait for other processes rather than compute; a single worker would leave half of two cores idle.
        test: {
          name: 'fast',
          include: all,
          exclude: [...served, ...long, ...mutants, ...recipes, ...cli, ...kubernetes, ...postgres, ...consensus],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'long', include: long, maxWorkers: 2, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: { name: 'recipes', include: recipes, maxWorkers: 3, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: 'cli',
          include: cli,
          globalSetup: 'packages/cli/test/support/built-program.ts',
          maxWorkers: 2,
          // Each test runs several programs.
          maxConcurrency: 5,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'mutants', include: mutants, maxWorkers: 2, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        // They mostly wait for leases to expire and for servers.
        test: { name: 'kubernetes', include: kubernetes, exclude: mutants, maxWorkers: 3, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        // They mostly wait for leases to expire and for servers.
        test: { name: 'postgres', include: postgres, exclude: mutants, maxWorkers: 3, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        // They mostly wait for leases and sessions to expire, and for servers.
        test: {
          name: 'consensus',
          include: consensus,
          exclude: [...clusters, ...mutants],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        // Each cluster has the machine to itself.
        test: { name: 'clusters', include: clusters, maxWorkers: 1, maxConcurrency: 1, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        // Against servers, whose leases last for 15 seconds at least: they mostly wait.
        test: { name: 'served', include: served, exclude: mutants, maxWorkers: 3, sequence: { groupOrder: 1 } },
      },
    ],
    // Long enough for a busy machine: these limits only end tests that hang.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default', new ClosingLineReporter()],
  },
})

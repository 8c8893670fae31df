import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import { defineConfig } from 'vitest/config'
import { inTurn } from './testing/src/in-turn.js'
import { ClosingLineReporter } from './tools/closing-line-reporter.js'
import { LongestFirst } from './tools/longest-first.js'

const conditions = ['@leasehold/source']

const all = [
  'packages/*/test/**/*.test.ts',
  'examples/*/test/**/*.test.ts',
  'tools/test/**/*.test.ts',
  'docs/{playground,site}/test/**/*.test.ts',
  'testing/simulator/test/explore/*.test.ts',
  'testing/chaos/test/**/*.test.ts',
]

/** Deliberate bugs, each built and run until a test catches it. */
const mutants = [
  'packages/recipes/test/**/mutants.test.ts',
  'testing/simulator/test/{explore,mutants}/mutants.test.ts',
  'packages/sharding/test/simulation/mutants.test.ts',
  'packages/*/test/**/unit-mutants.test.ts',
]

/** Clusters of three whose members are killed and stopped. */
const clusters = ['packages/{etcd,consul,nats}/test/chaos/**/*.test.ts']

/** The stores on real servers, which the tests start, kill, stop and cut off, and the recipes over these stores. */
const servers = [
  'packages/redis/test/{access,blocked-loop,clients,cluster,cluster-laws,failover,failures,faults,heartbeat-thread}.test.ts',
  'packages/redis/test/{compat,compat-fleet,compat-laws}.test.ts',
  'packages/redis/test/{laws,listing,proxy,servers,time-limits,transport,upstash,valkey-laws,waiting}.test.ts',
  'packages/redis-quorum/test/{clients,compat,laws,rough-weather,servers}.test.ts',
  'packages/{azure-blob,consul,dynamodb,etcd,kubernetes,mysql,nats,postgres,s3}/test/**/*.test.ts',
  'packages/{nestjs,node-cron,opentelemetry}/test/redis.test.ts',
  'packages/recipes/test/servers/*.test.ts',
  'packages/sharding/test/bank/*.test.ts',
  'packages/sharding/test/singleton/processes.test.ts',
  'packages/sharding/test/states/{postgres,redis}-*.test.ts',
  'packages/opentelemetry/test/prometheus/*.test.ts',
  'testing/chaos/test/servers/*.test.ts',
  'examples/{azure-blob,consul,container-migration,dynamodb,etcd,kubernetes,mysql,nats,postgres,s3}/test/**/*.test.ts',
]

/**
 * The recipes over Azure Blob Storage: the tests wait for leases of 15 s, the shortest of the service, and share one server that
 * computes in one thread.
 */
const blobs = ['packages/recipes/test/servers/azure-blob-laws.test.ts']

/** Thousands of schedules, fleets of processes, and packages as they are published. */
const long = [
  'packages/actor/test/{heartbeat-thread,linear,schedules}.test.ts',
  'packages/cli/test/{binary,run}/**/*.test.ts',
  'packages/cli/test/explain/{faults,processes}.test.ts',
  'packages/config/test/hostile.test.ts',
  'packages/create-leasehold/test/{combinations,take-over,wrong-settings,published/*}.test.ts',
  'packages/{heartbeat-thread,nestjs}/test/published/*.test.ts',
  'packages/heartbeat-thread/test/{heartbeat-thread,laws,processes}.test.ts',
  'packages/local/test/{thread-laws,threads,processes,self-fence}.test.ts',
  'packages/node-cron/test/processes.test.ts',
  'packages/recipes/test/*/{processes,simulation,thread-laws}.test.ts',
  'packages/sharding/test/simulation/simulation.test.ts',
  'packages/recorder/test/stack.test.ts',
  'packages/ui/test/browser/**/*.test.ts',
  'docs/playground/test/browser/**/*.test.ts',
  'docs/site/test/built/*.test.ts',
  'testing/simulator/test/*.test.ts',
  'testing/{chaos/test/checks,simulator/test/explore}/large.test.ts',
  'examples/{accounts,agents,chat-room,cron,failover,fastify,getting-started,hocon,http,jobs,nestjs,node-cron,oauth-refresh,pipeline,serverless,telegram-poller,testing,ui}/test/**/*.test.ts',
  'tools/test/published/*.test.ts',
  'tools/test/time-lint.test.ts',
]

/**
 * The tests that replace modules, timers, globals or functions of the process: each file has a process of its own. The fast
 * ones among the others, and those on servers, share processes, in which the sources are loaded once: that takes a third of
 * the processor time.
 */
const alone = globSync(all).filter((file) => {
  const text = readFileSync(file, 'utf8')
  return /vi\.(mock|stubGlobal|useFakeTimers)\(|spyOn\((globalThis|process|console|Math|systemClock)\b|setGlobal\w+Provider\(/.test(
    text,
  )
})

/** Each cluster has the machine to itself, and an election on a busy machine can take longer than a ttl: not in CI. */
const isForClusters = process.env.TEST_CLUSTERS === '1'

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Processes, because tests send signals and open native stores.
    pool: 'forks',
    // Tests that wait for leases to expire do so side by side.
    maxConcurrency: 40,
    projects: [
      {
        extends: true,
        // Some wait for leases and other processes rather than compute.
        test: {
          name: 'fast',
          include: all,
          exclude: [...alone, ...long, ...servers, ...mutants],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: alone,
          exclude: [...long, ...mutants],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        // Most of the time, they wait for processes and for leases to expire.
        test: {
          name: 'long',
          include: long,
          globalSetup: 'packages/cli/test/support/built-program.ts',
          maxWorkers: 4,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        // They mostly wait for leases and sessions to expire, and for servers.
        test: {
          name: 'servers',
          // CI runs half of these files for each commit, and the next commit runs the others.
          include: isForClusters ? clusters : [...inTurn(globSync(servers).toSorted(), 'SERVERS_TURN')],
          exclude: isForClusters ? [] : [...clusters, ...blobs, ...alone, ...mutants],
          isolate: false,
          maxWorkers: isForClusters ? 1 : 6,
          ...(isForClusters && { maxConcurrency: 1 }),
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        // With more of them at once, they wait for the server instead of leases, until their time limits have passed.
        test: {
          name: 'servers-blobs',
          include: blobs,
          maxWorkers: 6,
          maxConcurrency: 20,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: { name: 'mutants', include: mutants, maxWorkers: 3, sequence: { groupOrder: 4 } },
      },
    ],
    // Long enough for a busy machine: these limits only end tests that hang.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new ClosingLineReporter()],
  },
})

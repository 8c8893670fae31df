/** Ours and three rivals on one redis-server: prints the tables and fails where a bound of ours is not kept. */
import { RedisServer } from '@leasehold/testing/redis-server'
import { runBenchmark } from '../support/benchmark.js'
import { machine } from '../support/machine.js'
import { reportCycles } from './numbers/cycles.js'
import { reportEventLoopLag } from './numbers/event-loop-lag.js'
import { reportHandOver } from './numbers/hand-over.js'
import { reportHolding } from './numbers/holding.js'
import { reportOverlap } from './numbers/overlap.js'
import { reportSemaphore } from './numbers/semaphore.js'
import { rivals } from './redis-client.js'
import { serverVersion } from './server-meter.js'

const numbers = {
  overlap: reportOverlap,
  'hand-over': reportHandOver,
  holding: reportHolding,
  cycles: reportCycles,
  'event-loop-lag': reportEventLoopLag,
  semaphore: reportSemaphore,
}

const page = {
  name: 'benchmarks-redis',
  template: new URL('page.md', import.meta.url),
  chart: 'Locks on Redis: @leasehold/redis and three other libraries',
}

await runBenchmark(numbers, [page], async () => {
  rivals.install()
  const server = await RedisServer.start()
  const software = `redis-server ${await serverVersion(server.port)}, ioredis ${rivals.versionOf('ioredis')}`
  return { server: server.port, machine: machine(software), stop: () => server.stop() }
})

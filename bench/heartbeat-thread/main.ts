/**
 * Processes that are blocked, or work past their locks: locks lost with and without a heartbeat thread, overlaps of work with
 * and without a self-fence, beside other libraries; and the cost of the thread.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisServer } from '@leasehold/testing/redis-server'
import { rivals } from '../redis/redis-client.js'
import { runBenchmark } from '../support/benchmark.js'
import { busyMachine } from '../support/machine.js'
import { reportBlocked } from './blocked/report-blocked.js'
import { reportCost } from './cost/report-cost.js'
import { reportFenced } from './fenced/report-fenced.js'

const numbers = { blocked: reportBlocked, cost: reportCost, fenced: reportFenced }

const pages = [
  {
    name: 'benchmarks-heartbeat-thread',
    template: new URL('heartbeat-thread.md', import.meta.url),
    chart: 'Locks lost by a blocked process',
    numbers: ['blocked', 'cost'],
  },
  {
    name: 'benchmarks-self-fence',
    template: new URL('self-fence.md', import.meta.url),
    chart: 'The longest overlap of work',
    numbers: ['fenced'],
  },
]

await runBenchmark(numbers, pages, async () => {
  rivals.install()
  const redis = await RedisServer.start()
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
  const stop = async (): Promise<void> => {
    await redis.stop()
    rmSync(folder, { recursive: true })
  }
  const software = `ioredis ${rivals.versionOf('ioredis')}`
  return { server: { folder, port: redis.port }, machine: busyMachine(software), stop }
})

/** Acquire + release cycles through the engine, in one process: prints a table and fails if a bound is not kept. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'

const ROUNDS = 7
const CYCLES = 20_000
const IN_FLIGHT = 64
const LEAST_A_SECOND = 20_000

const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
const store = new LocalLeaseStore({ folder })

async function cyclesASecond(inFlight: number): Promise<number> {
  const leases = Array.from({ length: inFlight }, (_, place) => createLease(store, `lease-${place}`))
  const each = CYCLES / inFlight
  const start = performance.now()
  await Promise.all(
    leases.map(async (lease) => {
      for (let cycle = 0; cycle < each; cycle += 1) {
        if (!(await lease.acquire())) throw new Error('a free lease was refused')
        await lease.release()
      }
    }),
  )
  return CYCLES / ((performance.now() - start) / 1_000)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

const one: number[] = []
const many: number[] = []
await cyclesASecond(IN_FLIGHT)
for (let round = 0; round < ROUNDS; round += 1) {
  one.push(await cyclesASecond(1))
  many.push(await cyclesASecond(IN_FLIGHT))
}
await store.close()
rmSync(folder, { recursive: true })

const kept = median(many) >= LEAST_A_SECOND
const format = (value: number): string => Math.round(value).toLocaleString('en')
console.log(`| acquire + release on disk, cycles a second | measured | bound | kept |
|---|---|---|---|
| 1 in flight | ${format(median(one))} | | |
| ${IN_FLIGHT} in flight | ${format(median(many))} | at least ${format(LEAST_A_SECOND)} | ${kept ? 'yes' : '**no**'} |`)
process.exitCode = kept ? 0 : 1

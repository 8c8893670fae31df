import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { LocalLeaseStore } from '@leasehold/local'
import { Schedule, ScheduleControl } from '@leasehold/recipes'

/** How many ticks are run before the instance that ran the last one is killed, and after it. */
const TICKS = 3

interface Run {
  readonly instance: string
  readonly due: string
}

const folder = mkdtempSync(join(tmpdir(), 'leasehold-cron-'))
const runs: Run[] = []
const instances = new Map<string, ChildProcess>()
const waiting: (() => void)[] = []

for (const instance of ['anna', 'berta', 'carla']) {
  const child = fork(fileURLToPath(new URL('instance.ts', import.meta.url)), [folder])
  child.on('message', (due: string) => {
    runs.push({ instance, due })
    console.log(`${due.slice(11, 19)}  ${instance}`)
    for (const wake of waiting.splice(0)) wake()
  })
  instances.set(instance, child)
}

async function untilRuns(count: number): Promise<Run> {
  while (runs.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
  return runs[count - 1] as Run
}

const { instance: victim } = await untilRuns(TICKS)
console.log(`SIGKILL to ${victim}, in the middle of its work`)
const killed = instances.get(victim)
killed?.kill('SIGKILL')
if (killed !== undefined) await once(killed, 'close')
const before = runs.length
await untilRuns(before + TICKS)

const store = new LocalLeaseStore({ folder })
// As `leasehold schedule pause report` does.
const control = new ScheduleControl(store, 'report')
await control.pause({ reason: 'the printer is out of paper' })
console.log('paused for all instances')
// They see it within a heartbeat.
await sleep(2_000)
const atPause = runs.length
await sleep(3_000)
const duringPause = runs.length - atPause
await control.runNow()
await untilRuns(atPause + duringPause + 1)
console.log(`${duringPause} ticks were run during the pause, and one run was asked for by hand`)
await control.resume()
console.log('resumed')
await untilRuns(runs.length + 1)

for (const child of instances.values()) child.kill('SIGTERM')
for (const child of instances.values())
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')

const { last } = await new Schedule(store, { name: 'report', cron: '* * * * * *', work: () => {} }).read()
await store.close()
rmSync(folder, { recursive: true })

const twice = runs.length - new Set(runs.map(({ due }) => due)).size
const by = new Set(runs.slice(before).map(({ instance }) => instance))
console.log(`the last run: ${last?.outcome}, by another instance than ${victim}: ${!by.has(victim)}`)
console.log(`${runs.length} ticks were run, ${twice} of them twice`)
process.exitCode = twice === 0 && duringPause === 0 && !by.has(victim) && last?.outcome === 'done' ? 0 : 1

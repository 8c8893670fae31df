import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** How many ticks are run before the instance that ran the last one is killed, and after it. */
const TICKS = 3

interface Instance {
  readonly name: string
  readonly process: ChildProcess
  readonly port: number
}

const folder = mkdtempSync(join(tmpdir(), 'leasehold-node-cron-'))
const runs: { readonly instance: string; readonly due: string }[] = []
const names = ['anna', 'berta']
const instances = new Set(await Promise.all(names.map(startInstance)))

async function startInstance(name: string): Promise<Instance> {
  const child = fork(fileURLToPath(new URL('instance.ts', import.meta.url)), [folder])
  const [port] = await once(child, 'message')
  return { name, process: child, port }
}

/** Asks the instances until they have run this number of further ticks. Returns the instance that ran the last one. */
async function untilMoreRuns(count: number): Promise<string> {
  const wanted = runs.length + count
  while (runs.length < wanted) {
    await pause(50)
    for (const { name, port } of instances) {
      const answer = (await (await fetch(`http://127.0.0.1:${port}`)).json()) as string[]
      for (const due of answer.slice(runs.filter(({ instance }) => instance === name).length)) {
        runs.push({ instance: name, due })
        console.log(`${due.slice(11, 19)}  ${name}`)
      }
    }
  }
  return runs.at(-1)?.instance ?? ''
}

async function end({ process: child }: Instance, signal: NodeJS.Signals): Promise<void> {
  const exited = once(child, 'exit')
  if (child.exitCode === null && child.signalCode === null) child.kill(signal)
  else return
  await exited
}

const victim = await untilMoreRuns(TICKS)
console.log(`SIGKILL to ${victim}, in the middle of its work`)
for (const instance of instances) {
  if (instance.name !== victim) continue
  await end(instance, 'SIGKILL')
  instances.delete(instance)
}
await untilMoreRuns(TICKS)
await Promise.all(Array.from(instances, (instance) => end(instance, 'SIGTERM')))
rmSync(folder, { recursive: true })

const twice = runs.length - new Set(runs.map(({ due }) => due)).size
console.log(`${runs.length} ticks were run, ${twice} of them twice`)
process.exitCode = twice === 0 ? 0 : 1

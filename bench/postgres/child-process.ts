import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The measurements that run in a process of their own, by name: see `child.ts`. */
export type Measurement = 'cycles' | 'hand-over' | 'holding'

const program = fileURLToPath(new URL('child.ts', import.meta.url))

/** A process that measures, with the task as its argument. */
export function startChild(measurement: Measurement, task: object): ChildProcess {
  return fork(program, [measurement, JSON.stringify(task)], { execArgv: ['--import', 'tsx'] })
}

/** The result of one measurement in a process of its own. */
export async function measureInChild<Result>(measurement: Measurement, task: object): Promise<Result> {
  const child = startChild(measurement, task)
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${measurement} ended early: ${signal ?? code}`)
  })
  const [message] = await Promise.race([once(child, 'message'), ended])
  ended.catch(() => {})
  return (message as { result: Result }).result
}

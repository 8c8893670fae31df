import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The measurements that run in a process of their own, by name: see `child.ts`. */
export type Measurement = 'overlap' | 'hand-over' | 'holding' | 'cycles' | 'event-loop-lag' | 'taker'

const program = fileURLToPath(new URL('child.ts', import.meta.url))

/** A process that measures, with the task as its argument. */
export function startChild(measurement: Measurement, task: object): ChildProcess {
  const execArgv = ['--expose-gc', '--import', 'tsx']
  return fork(program, [measurement, JSON.stringify(task)], { execArgv })
}

/** What one measurement in a process of its own came to. */
export function measureInChild<Result>(measurement: Measurement, task: object): Promise<Result> {
  const child = startChild(measurement, task)
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve((message as { result: Result }).result))
    child.once('error', reject)
    child.once('exit', (code, signal) => reject(new Error(`${measurement} ended early: ${signal ?? code}`)))
  })
}

/** Like `Promise.all` over the tasks, but so many at a time. */
export async function mapLimited<T, R>(items: readonly T[], limit: number, map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = [...items.entries()]
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [place, item] = next
      results[place] = await map(item)
    }
  }
  await Promise.all(Array.from({ length: limit }, work))
  return results
}

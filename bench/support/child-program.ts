import { inspect } from 'node:util'

/** A call of this process by its parent. */
interface Call {
  readonly id: number
  /** Without it, the answer is the data of the object itself. */
  readonly method?: string
  readonly of?: readonly unknown[]
}

export interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

/** Carries out the calls of the parent by the methods of an object, with the task as the argument of the process. */
export function serve(open: (task: never) => unknown): void {
  const opened = (async () => open(JSON.parse(process.argv[2] ?? '{}') as never))()
  process.on('disconnect', () => process.exit())
  process.on('message', async (message) => {
    const { id, method, of = [] } = message as Call
    try {
      const served = (await opened) as Record<string, (...of: readonly unknown[]) => unknown>
      const result = method === undefined ? served : await served[method]?.(...of)
      process.send?.({ id, result } satisfies Answer)
    } catch (error) {
      process.send?.({ id, error: inspect(error) } satisfies Answer)
    }
  })
}

import type { Use } from './contenders/contender.js'
import { contenderOf } from './contenders/contenders.js'

/** The message to the other process. */
export interface Taken {
  readonly taken: string
  /** On the clock that all processes of a machine share, in milliseconds. */
  readonly at: number
}

export interface TakerTask {
  readonly contender: string
  readonly port: number
  readonly use: Use
}

/** Milliseconds of the machine's monotonic clock: the same in every process of it. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** In a process of its own: waits for the names that it is sent, and tells when it was granted each. Never ends by itself. */
export function takeWhatIsFree({ contender, port, use }: TakerTask): Promise<never> {
  const session = contenderOf(contender).open(port, use)
  const take = async (name: string): Promise<void> => {
    const held = await session.hold(name)
    process.send?.({ taken: name, at: machineTime() } satisfies Taken)
    await held.release()
  }
  process.on('message', (names: readonly string[]) => {
    for (const name of names) take(name).catch(() => {})
  })
  return new Promise(() => {})
}

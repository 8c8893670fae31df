import { setImmediate as nextTurn } from 'node:timers/promises'
import { fromCallback } from 'xstate'

export interface Message {
  readonly type: 'message'
  readonly id: number
}

export function message(id: number): Message {
  return { type: 'message', id }
}

/** Records the actions of all workers of one test. */
export class Recorder {
  /** The ids of the messages that were handled, in order. */
  readonly handled: number[] = []
  /** The number of started workers. */
  started = 0
  /** The number of running workers. */
  alive = 0
  /** Called for each handled message. */
  onHandle: (id: number) => void = () => {}
  onStop: () => void = () => {}

  /** A worker that records its messages, its start and its stop. */
  readonly worker = fromCallback<Message>(({ receive }) => {
    this.started += 1
    this.alive += 1
    receive(({ id }) => {
      this.handled.push(id)
      this.onHandle(id)
    })
    return () => {
      this.alive -= 1
      this.onStop()
    }
  })
}

/** Runs all promise reactions and one turn of the event loop. */
export async function settle(): Promise<void> {
  await nextTurn()
}

/** Runs `count` rounds of promise reactions. */
export async function microtasks(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await null
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { fromCallback } from 'xstate'

export interface Message {
  readonly type: 'message'
  readonly id: number
}

export function message(id: number): Message {
  return { type: 'message', id }
}

/** What the workers of one test did, whichever of them it was. */
export class Recorder {
  /** The ids of the messages that were handled, in order. */
  readonly handled: number[] = []
  /** How many workers were started. */
  started = 0
  /** How many of them do still run. */
  alive = 0
  /** Looked at when a message is handled; what is thrown is kept in `violations`. */
  onHandle: (id: number) => void = () => {}
  onStop: () => void = () => {}

  /** A worker that records what it is given and when it is started and stopped. */
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

/** Lets every promise reaction run, and what waits for the event loop's next turn. */
export async function settle(): Promise<void> {
  await nextTurn()
}

/** Runs exactly so many rounds of promise reactions. */
export async function microtasks(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await null
}

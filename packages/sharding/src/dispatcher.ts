import type { Clock } from '@leasehold/core'

/** Something that has work to do. */
export interface Task {
  /** Does `most` steps at most, and returns how many it did. It must not throw. */
  step(most: number): number
}

/** The most steps in one turn of the event loop: the process has other work, and heartbeats to send. */
const STEPS_IN_TURN = 1_000

/** The most steps of one task before the others have their turn. */
const STEPS_OF_TASK = 100

/** Gives each task its turn, soon but never within the call that asks for it: entities that send to each other need no stack. */
export class Dispatcher {
  readonly #clock: Clock
  /** In the order of their turns. */
  readonly #tasks = new Set<Task>()
  readonly #turn = (): void => this.#run()
  #isScheduled = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(task: Task): void {
    this.#tasks.add(task)
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(this.#turn)
  }

  #run(): void {
    let left = STEPS_IN_TURN
    for (const task of this.#tasks) {
      if (left <= 0) break
      this.#tasks.delete(task)
      // A task that does nothing has its cost too.
      left -= Math.max(1, task.step(Math.min(left, STEPS_OF_TASK)))
    }
    this.#isScheduled = this.#tasks.size > 0
    if (this.#isScheduled) this.#clock.schedule(0, this.#turn)
  }
}

import type { Random } from '../../../packages/testkit/src/random.js'
import type { VirtualTime } from '../../../packages/testkit/src/time/virtual-time.js'
import type { PlannedFault } from './planned-fault.js'

export type Direction = 'to-store' | 'from-store'

/** The least and the most time of a message without faults, in milliseconds. */
const SHORTEST_WAY = 0.3
const LONGEST_WAY = 3

/** The network between the nodes and the store. Its faults are drawn from the seed. */
export class Network {
  readonly #time: VirtualTime
  readonly #random: Random
  readonly #faults: readonly PlannedFault[]

  constructor(time: VirtualTime, faults: readonly PlannedFault[], random: Random) {
    this.#time = time
    this.#random = random
    this.#faults = faults.filter(({ kind }) => ['partition', 'fading', 'loss', 'delay', 'duplication'].includes(kind))
  }

  /** Delivers a message once, never, or twice. */
  send(node: number, direction: Direction, deliver: () => void): void {
    const random = this.#random
    // The same number of draws for each message: a fault more or less does not change other messages.
    const way = random.between(SHORTEST_WAY, LONGEST_WAY)
    const [lost, late, twice, again] = [random.next(), random.next(), random.next(), random.next()]
    let delay = way
    let isLost = false
    let copyAfter: number | undefined
    for (const fault of this.#faults) {
      if (this.#time.now < fault.at || !('for' in fault) || this.#time.now >= fault.at + fault.for) continue
      if (fault.kind === 'partition') {
        isLost ||= fault.node === node && (fault.direction === 'both' || fault.direction === direction)
      } else if (fault.kind === 'fading' && fault.node === node) {
        if (this.#time.now < fault.at + fault.for / 2) delay += late * fault.longest
        else isLost = true
      } else if (fault.kind === 'loss') isLost ||= lost < fault.probability
      else if (fault.kind === 'delay') delay += late * fault.longest
      else if (fault.kind === 'duplication' && twice < fault.probability) copyAfter = again * fault.longest
    }
    if (isLost) return
    this.#time.schedule(delay, deliver)
    if (copyAfter !== undefined) this.#time.schedule(delay + copyAfter, deliver)
  }
}

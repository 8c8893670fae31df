import type { Random } from '../../../packages/testkit/src/random.js'
import type { VirtualTime } from '../../../packages/testkit/src/time/virtual-time.js'
import type { Carrier, Content } from '../../../testing/simulator/src/connection.js'
import type { Direction } from '../../../testing/simulator/src/network.js'
import { LONGEST_WAY, SHORTEST_WAY } from './settings.js'

/** A message under way. */
export interface Message extends Content {
  readonly id: number
  readonly node: number
  readonly direction: Direction
  readonly sentAt: number
  readonly arrivesAt: number
  /** It was sent into a link that is cut: it gets half the way. */
  readonly isLost: boolean
}

export interface Link {
  isCut: boolean
  /** By how much it delays each message more, in milliseconds. */
  delay: number
}

/** The link of each node to the store and the resource, with the messages under way. */
export class Links implements Carrier {
  readonly #time: VirtualTime
  readonly #random: Random
  readonly #links: readonly Link[]
  readonly #underWay = new Set<Message>()
  #count = 0

  constructor(time: VirtualTime, random: Random, nodes: number) {
    this.#time = time
    this.#random = random
    this.#links = Array.from({ length: nodes }, () => ({ isCut: false, delay: 0 }))
  }

  of(node: number): Readonly<Link> {
    return this.#linkOf(node)
  }

  /** The messages on the link of a node. */
  messages(node: number): readonly Message[] {
    return [...this.#underWay].filter((message) => message.node === node)
  }

  /** Messages under way on the link are lost, and so are those that are sent until it is mended. */
  cut(node: number): void {
    this.#linkOf(node).isCut = true
    for (const message of this.messages(node)) this.#underWay.delete(message)
  }

  mend(node: number): void {
    this.#linkOf(node).isCut = false
  }

  /** Delays the messages that are sent from now on. Those under way arrive when they would have. */
  delay(node: number, by: number): void {
    this.#linkOf(node).delay = by
  }

  send(node: number, direction: Direction, deliver: () => void, content: Content): void {
    const { isCut, delay } = this.#linkOf(node)
    const way = this.#random.between(SHORTEST_WAY, LONGEST_WAY) + delay
    this.#count += 1
    const sentAt = this.#time.now
    const message = { ...content, id: this.#count, node, direction, sentAt, arrivesAt: sentAt + way, isLost: isCut }
    this.#underWay.add(message)
    this.#time.schedule(isCut ? way / 2 : way, () => {
      if (this.#underWay.delete(message) && !isCut) deliver()
    })
  }

  #linkOf(node: number): Link {
    const link = this.#links[node]
    if (link === undefined) throw new RangeError(`there is no node ${node}`)
    return link
  }
}

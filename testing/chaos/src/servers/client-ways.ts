import { TcpProxy } from '@leasehold/testkit'
import type { SystemFault } from '../systems/system.js'

/** How long a fault of the network lasts, in milliseconds. */
const OUTAGE = [200, 6_000] as const

/** By how much answers are delayed, in milliseconds: more than most operations take, less than their time limit. */
const DELAY = 400

/** Every client has a way of its own to each server, which can be cut without harm to the others. */
export class ClientWays {
  readonly #ways: readonly (readonly TcpProxy[])[]

  private constructor(ways: readonly (readonly TcpProxy[])[]) {
    this.#ways = ways
  }

  static async to(ports: readonly number[], clients: number): Promise<ClientWays> {
    const ways = Array.from({ length: clients }, () => Promise.all(ports.map((port) => TcpProxy.to(port))))
    return new ClientWays(await Promise.all(ways))
  }

  /** The ports for this client, in the order of the servers. */
  portsOf(client: number): readonly number[] {
    return (this.#ways[client] ?? []).map(({ port }) => port)
  }

  get faults(): readonly SystemFault[] {
    return this.#ways.flatMap((ways, client) => {
      const fault = (kind: string, begin: (way: TcpProxy) => void): SystemFault => ({
        kind,
        target: `client ${client}`,
        lasts: OUTAGE,
        begin: () => ways.forEach(begin),
        end: () => ways.forEach((way) => void way.heal()),
      })
      return [
        fault('cut-client', (way) => way.blackHole()),
        fault('lose-answers', (way) => way.dropResponses()),
        fault('delay-client', (way) => way.slowDown(DELAY)),
        fault('reset-client', (way) => {
          way.reset()
          way.refuse()
        }),
      ]
    })
  }

  heal(): void {
    for (const way of this.#ways.flat()) way.heal()
  }

  async close(): Promise<void> {
    await Promise.all(this.#ways.flat().map((way) => way.close()))
  }
}

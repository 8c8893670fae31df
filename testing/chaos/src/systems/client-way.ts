import { TcpProxy } from '@leasehold/testkit'
import type { SystemFault } from './system.js'

/** How long the answers are delayed, in milliseconds: more than a client waits for some of them. */
const DELAY = 400
/** The shortest and longest time of these faults, in milliseconds. */
const LASTS = [200, 5_000] as const

/** The way of one client to a server, or to several servers: proxies of its own, which can be cut and slowed down. */
export class ClientWay {
  readonly #client: number
  readonly #proxies: readonly TcpProxy[]

  private constructor(client: number, proxies: readonly TcpProxy[]) {
    this.#client = client
    this.#proxies = proxies
  }

  /** `client`: counts from 1. */
  static async to(servers: readonly number[], client: number): Promise<ClientWay> {
    return new ClientWay(client, await Promise.all(servers.map((port) => TcpProxy.to(port))))
  }

  /** Of the proxies, in the order of the servers. */
  get ports(): readonly number[] {
    return this.#proxies.map(({ port }) => port)
  }

  get faults(): readonly SystemFault[] {
    const target = `client ${this.#client}`
    const end = (): void => this.heal()
    const fault = (kind: string, begin: (proxy: TcpProxy) => void): SystemFault => {
      return { kind, target, lasts: LASTS, weight: 0.25, begin: () => this.#proxies.forEach(begin), end }
    }
    return [
      fault('cut-client', (proxy) => proxy.blackHole()),
      fault('drop-answers', (proxy) => proxy.dropResponses()),
      fault('lose-answer', (proxy) => proxy.dropNextResponse()),
      fault('delay-client', (proxy) => proxy.slowDown(DELAY)),
      fault('refuse-client', (proxy) => {
        proxy.refuse()
        proxy.reset()
      }),
    ]
  }

  /** New connections go to these servers, as after a failover. */
  retarget(servers: readonly number[]): void {
    for (const [place, port] of servers.entries()) this.#proxies[place]?.retarget(port)
  }

  heal(): void {
    for (const proxy of this.#proxies) proxy.heal()
  }

  async close(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()))
  }
}

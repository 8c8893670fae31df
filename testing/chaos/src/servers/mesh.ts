import { TcpProxy } from '@leasehold/testkit'

/** The ways of the servers of a cluster to each other, so that one of them can be cut off from the others. */
export class Mesh {
  readonly #ways: { readonly from: number; readonly to: number; readonly proxy: TcpProxy }[] = []

  /** The port at which the server with the first number reaches the one with the second, which listens at this port. */
  async way(from: number, to: number, port: number): Promise<number> {
    const proxy = await TcpProxy.to(port)
    this.#ways.push({ from, to, proxy })
    return proxy.port
  }

  /** It and the others hear nothing of each other; its clients still reach it. */
  isolate(server: number): void {
    for (const { from, to, proxy } of this.#ways) if (from === server || to === server) proxy.blackHole()
  }

  heal(): void {
    for (const { proxy } of this.#ways) proxy.heal()
  }

  async close(): Promise<void> {
    await Promise.all(this.#ways.map(({ proxy }) => proxy.close()))
  }
}

import type { CreateLeaseOptions } from '@leasehold/core'
import { TcpProxy } from '@leasehold/testkit'
import { Players } from './players.js'

/** Servers, ways to them, stores and leases, for a test beside others; all ends with it. */
export class ServerScene extends Players {
  readonly #ends: (() => Promise<unknown>)[] = []

  /** Plays a scene, and ends it. `times`: of its leases, unless others are given. */
  protected static async playIn<S extends ServerScene>(scene: S, act: (scene: S) => Promise<void>): Promise<void> {
    try {
      await act(scene)
    } finally {
      for (const end of scene.#ends.reverse()) await end()
    }
  }

  protected constructor(times: CreateLeaseOptions) {
    super(times)
  }

  /** Registers work for the end, in reverse order. */
  atEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end)
  }

  async proxy({ port }: { readonly port: number }): Promise<TcpProxy> {
    const proxy = await TcpProxy.to(port)
    this.atEnd(() => proxy.close())
    return proxy
  }

  /** A server that stops at the end. */
  protected async ending<T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> {
    const started = await starting
    this.atEnd(() => started.stop())
    return started
  }
}

import { type AddressInfo, createServer } from 'node:net'
import { createLease, LeaseConfigurationError, LeaseUnavailableError } from '@leasehold/core'
import { describeRedisTls } from '@leasehold/testing/describe-redis'
import { claimOf, granted } from '@leasehold/testing/job-claims'
import { within } from '@leasehold/testing/real-time'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, it } from 'vitest'
import { differingClusterLibraries } from './support/libraries.js'
import { Scene } from './support/scene.js'

describeRedisTls('a client with the wrong transport', () => {
  describe.concurrent.each(differingClusterLibraries)('by $name', { timeout: 60_000 }, (library) => {
    it.each([{ password: undefined }, { password: 'open sesame' }])(
      'reads that the server does not speak TLS, with %o',
      async ({ password }) => {
        await Scene.play(async (scene) => {
          const [plain, secure] = [await scene.server(password ? { password } : {}), await scene.server({ tls: true })]
          const store = scene.store(library.server({ port: plain.port, password, ca: secure.ca }))
          const error = await store.acquire(claimOf('x'), within(4_000)).catch((reason: unknown) => reason)
          expect(error).toBeInstanceOf(LeaseConfigurationError)
          expect(String(error)).toContain(`the server at 127.0.0.1:${plain.port} does not speak TLS`)
          expect(String(error)).toContain('begin the URL with redis: instead of rediss:')
        })
      },
    )

    it('reads that the server speaks TLS only', async () => {
      await Scene.play(async (scene) => {
        const { port } = await scene.server({ tls: true })
        for (const password of [undefined, 'open sesame']) {
          const store = scene.store(library.server({ port, password }))
          const error = await store.acquire(claimOf('x'), within(4_000)).catch((reason: unknown) => reason)
          expect(error).toBeInstanceOf(LeaseConfigurationError)
          expect(String(error)).toContain(`the server at 127.0.0.1:${port} speaks TLS only`)
        }
      })
    })

    it('rejects a waiter at once, which would wait for ever', async () => {
      await Scene.play(async (scene) => {
        const { port } = await scene.server({ tls: true })
        const lease = createLease(scene.store(library.server({ port })), 'job')
        await expect(lease.acquire({ wait: 60_000 })).rejects.toBeInstanceOf(LeaseConfigurationError)
      })
    })

    it('is not blamed for a server that is down, silent, or trusted by no certificate', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server({ tls: true })
        const { ca } = await scene.server({ tls: true })
        const way = await scene.proxy(server)
        const stores = [
          scene.store(library.server({ port: 1 })),
          scene.store(library.server({ port: 1, ca })),
          // The system does not trust it.
          scene.store(library.server({ port: server.port, ca: 'no certificate' })),
        ]
        for (const store of stores) {
          const error = await store.acquire(claimOf('x'), within(4_000)).catch((reason: unknown) => reason)
          expect(error).toBeInstanceOf(LeaseUnavailableError)
        }
        way.slowDown(400)
        await granted(scene.store(library.server({ port: way.port, ca })), 'slow')
      })
    })
  })

  it('is not blamed for a server that refuses to negotiate TLS', async () => {
    await Scene.play(async (scene) => {
      const { ca } = await scene.server({ tls: true })
      const handshakeFailure = Buffer.from([0x15, 3, 3, 0, 2, 2, 40])
      const server = createServer((socket) =>
        socket.on('error', () => {}).once('data', () => socket.end(handshakeFailure)),
      )
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      scene.atEnd(async () => void server.close())
      const { port } = server.address() as AddressInfo
      for (const library of differingClusterLibraries) {
        const store = scene.store(library.server({ port, ca }))
        const error = await store.acquire(claimOf('x'), within(4_000)).catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(LeaseUnavailableError)
      }
    })
  })

  it.each([
    ['ioredis', (url: string) => new Redis(url, { lazyConnect: true })],
    ['node-redis', (url: string) => createClient({ url })],
  ])('made of a URL by %s, is found out', async (_, open) => {
    await Scene.play(async (scene) => {
      const [plain, secure] = [await scene.server(), await scene.server({ tls: true })]
      for (const url of [`rediss://127.0.0.1:${plain.port}`, `redis://127.0.0.1:${secure.port}`]) {
        const error = await scene
          .store(open(url))
          .read('job', within(4_000))
          .catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(LeaseConfigurationError)
        expect(String(error)).toContain('TLS')
      }
    })
  })
})

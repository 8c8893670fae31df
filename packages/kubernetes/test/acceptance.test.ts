import { describeUnless } from '@leasehold/testing/describe-unless'
import { KubeApiServer, whyNoKubeApiServer } from '@leasehold/testing/kube-api-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LayoutName } from '../src/kubernetes-options.js'
import { TestApiServer } from './support/api-server/test-api-server.js'
import { elect } from './support/elect.js'

let server: TestApiServer

beforeAll(async () => {
  server = await TestApiServer.start()
})

afterAll(() => server.stop())

describe.concurrent('two electors', () => {
  it.each(['lease', 'akka', 'pekko'] satisfies LayoutName[])(
    'in the layout %s come through ten idle durations, a crash and a graceful stop',
    { timeout: 240_000 },
    async (layout) => {
      const tokenOf = (elector: string): string => `${layout}-${elector}`
      for (const elector of ['first', 'second', 'third']) server.tokens.set(tokenOf(elector), 'everything')
      await elect({ port: server.port, layout, tokenOf }, () => {
        const begin = server.requests.length
        return () => {
          const idle = server.requests.slice(begin)
          const of = (elector: string) => idle.filter(({ token }) => token === tokenOf(elector))
          // A holder sends one PUT per heartbeat, and a waiter no more requests than that.
          const heartbeats = of('first').filter(({ method }) => method === 'PUT').length
          expect(heartbeats).toBeGreaterThan(10)
          expect(of('first').length).toBe(heartbeats)
          expect(of('second').length).toBeLessThanOrEqual(heartbeats)
        }
      })
    },
  )

  describeUnless(whyNoKubeApiServer, 'on a real API server', () => {
    it('come through the same', { timeout: 240_000 }, async () => {
      const real = await KubeApiServer.start()
      try {
        await elect({ port: real.port, ca: real.ca(), layout: 'lease', tokenOf: () => 'admin' }, () => () => {})
      } finally {
        await real.stop()
      }
    })
  })
})

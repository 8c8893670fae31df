import { describeUnless } from '@leasehold/testing/describe-unless'
import { RedisServer } from '@leasehold/testing/redis-server'
import type { ServerProgram } from '@leasehold/testing/server-program'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { behindProxies, onServer, onServerThatRestarts, partitionLaws, restartLaws } from './law-subjects.js'
import { iovalkey, type ServerLibrary } from './libraries.js'

/** The laws of stores and leases on servers of one program: a server that trials share, and servers that start again. */
export function describeServerLaws(program: ServerProgram, libraries: readonly ServerLibrary[]): void {
  describeUnless(program.whyNot, 'one server:', () => {
    let server: RedisServer

    beforeAll(async () => {
      server = await RedisServer.start({ program })
    })

    afterAll(() => server.stop())

    for (const library of libraries) {
      describeStoreLaws(onServer(library, () => server))
      // It began as a copy of ioredis, which has all laws.
      if (library === iovalkey) continue
      const proxied = behindProxies(library, () => server)
      describeStoreLaws(proxied, partitionLaws)
      describeLeaseLaws(leasesOver(proxied))
    }
  })

  describeUnless(program.whyNot, 'servers of their own:', () => {
    for (const library of libraries) describeStoreLaws(onServerThatRestarts(library, program), restartLaws)
  })
}

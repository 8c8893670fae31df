import { describeNats } from '@leasehold/testing/describe-nats'
import { NatsServer } from '@leasehold/testing/nats-server'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll } from 'vitest'
import { onConnection } from './support/law-subjects.js'

describeNats('one server:', () => {
  let server: NatsServer
  let connection: NatsConnection

  beforeAll(async () => {
    server = await NatsServer.start()
    connection = await connect({ servers: server.url })
  })

  afterAll(async () => {
    await connection.close()
    await server.stop()
  })

  describeStoreLaws(onConnection(() => connection))
  describeLeaseLaws(leasesOver(onConnection(() => connection)))
})

import { describeNats, describeNats215 } from '@leasehold/testing/describe-nats'
import { NatsServer, type NatsServerOptions, nats215Program, natsProgram } from '@leasehold/testing/nats-server'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll } from 'vitest'
import {
  behindProxies,
  lawsWithoutWatch,
  onConnection,
  onServerThatRestarts,
  partitionLaws,
  restartLaws,
  watchLaws,
} from './support/law-subjects.js'

const describeLaws = (options: NatsServerOptions) => (): void => {
  let server: NatsServer
  let connection: NatsConnection

  beforeAll(async () => {
    server = await NatsServer.start(options)
    connection = await connect({ servers: server.url })
  })

  afterAll(async () => {
    await connection.close()
    await server.stop()
  })

  const subject = onConnection(
    () => server,
    () => connection,
  )
  describeStoreLaws(subject, lawsWithoutWatch)
  // Virtual time does not wait for messages that the server sends unasked.
  describeStoreLaws({ ...subject, name: 'nats in real time', time: 'real' }, watchLaws)
  describeLeaseLaws(leasesOver(subject))
  describeStoreLaws(
    behindProxies(() => server),
    partitionLaws,
  )
  describeStoreLaws(onServerThatRestarts(options), restartLaws)
}

describeNats('one server 2.10:', describeLaws({ program: natsProgram }))

describeNats215('one server 2.15:', describeLaws({ program: nats215Program }))

import { NatsGuard, NatsLeaseStore } from '@leasehold/nats'
import { describe, expect, it } from 'vitest'

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['NatsLeaseStore', 'buckets', 'bucket', (o: object) => new NatsLeaseStore({}, o)],
    ['NatsLeaseStore', 'server', 'servers', (o: object) => new NatsLeaseStore(o)],
    ['NatsGuard', 'domian', 'domain', (o: object) => new NatsGuard({}, { bucket: 'data', ...o })],
    ['NatsGuard', 'tokens', 'token', (o: object) => new NatsGuard(o, { bucket: 'data' })],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})

it('a guard needs the bucket of its keys', () => {
  expect(() => new NatsGuard({}, undefined as never)).toThrow('bucket must be a name')
  expect(() => new NatsGuard({}, {} as never)).toThrow('bucket must be a name')
})

describe('servers in code', () => {
  it.each([
    [
      'a text',
      'nats://localhost:4222',
      /^servers must be a list of texts, such as \['nats:\/\/localhost:4222'\], not a string$/,
    ],
    ['an address with a user', ['nats://me:secret@localhost'], /^servers must be addresses without a user(?!.*secret)/],
    ['null', null, /^servers must be a list of texts.*, not null$/],
    ['an empty list', [], /^servers must be a list of texts.*: it is empty$/],
  ])('%s is a LeaseConfigurationError that says to give a list', (_, servers, message) => {
    expect(() => new NatsLeaseStore({ servers: servers as never })).toThrow(message)
    expect(() => new NatsGuard({ servers: servers as never }, { bucket: 'data' })).toThrow(message)
  })

  it.each([undefined, null, 'nats://localhost:4222'])('%s in place of a connection or options is one', (source) => {
    expect(() => new NatsLeaseStore(source as never)).toThrow('a connection of @nats-io/transport-node, or options')
  })
})

import { EtcdClient, EtcdLeaseStore } from '@leasehold/etcd'
import { Etcd3 } from 'etcd3'
import { afterAll, describe, expect, it } from 'vitest'

describe('endpoints in code', () => {
  it.each([
    [
      'a text',
      'http://localhost:2379',
      /^endpoints must be a list of texts, such as \['http:\/\/localhost:2379'\], not a string$/,
    ],
    ['a URL', new URL('http://localhost:2379'), /^endpoints must be a list of texts.*, not an object$/],
    ['null', null, /^endpoints must be a list of texts.*, not null$/],
    [
      'a list with a URL in it',
      [new URL('http://localhost:2379')],
      /^endpoints must be a list of texts.*: an object is none$/,
    ],
    ['an empty list', [], /^endpoints must be a list of texts.*: it is empty$/],
  ])('%s is a LeaseConfigurationError that says to give a list', (_, endpoints, message) => {
    const expected = expect.objectContaining({
      name: 'LeaseConfigurationError',
      message: expect.stringMatching(message),
      store: 'etcd',
    })
    expect(() => new EtcdClient({ endpoints: endpoints as never })).toThrow(expected)
    expect(() => new EtcdLeaseStore({ endpoints: endpoints as never })).toThrow(expected)
  })

  it.each([
    ['no list', new URL('http://localhost:2379'), /^clients must be a list of clients or channels of @grpc\/grpc-js/],
    ['an empty list', [], /^clients must be a list/],
    ['a list of addresses', ['http://localhost:2379'], /^clients must be a list/],
  ])('%s of clients is a LeaseConfigurationError', (_, clients, message) => {
    expect(() => new EtcdClient({ clients: clients as never })).toThrow(message)
  })

  it('are not given beside clients, which have addresses and certificates of their own', () => {
    const clients = [{ getChannel: () => expect.fail() }] as const
    for (const other of [{ endpoints: ['http://localhost:2379'] }, { tls: {} }]) {
      expect(() => new EtcdClient({ clients, ...other })).toThrow('give clients, or endpoints and tls')
    }
  })

  it('agree with credentials about TLS', () => {
    const [plain, secure] = [{ _isSecure: () => false }, { _isSecure: () => true }]
    const both = 'credentials of TLS need endpoints with https:'
    expect(() => new EtcdClient({ endpoints: ['http://localhost:2379'], credentials: secure })).toThrow(both)
    expect(() => new EtcdClient({ endpoints: ['https://localhost:2379'], credentials: plain })).toThrow(both)
    expect(() => new EtcdClient({ endpoints: ['https://localhost:2379'], credentials: secure, tls: {} })).toThrow(
      'give credentials, or tls',
    )
    expect(() => new EtcdClient({ credentials: {} as never })).toThrow('must be ChannelCredentials of @grpc/grpc-js')
  })

  it('no error shows what stands in it: an address may have a password in it', () => {
    for (const endpoints of ['http://user:secret@localhost:2379', [['secret']]]) {
      expect(() => new EtcdClient({ endpoints: endpoints as never })).toThrow(/^(?!.*secret)/)
    }
  })
})

describe('an Etcd3 object', () => {
  const etcd3 = new Etcd3({ hosts: 'http://localhost:1' })

  afterAll(() => etcd3.close())

  it.each([
    ['nothing', null],
    ['an address', 'http://localhost:2379'],
    ['a namespace, whose prefix would be left out', etcd3.namespace('app/')],
    ['an object of another shape', { kv: {}, watchClient: {}, close: () => {}, pool: { hosts: [] } }],
  ])('that is %s is a LeaseConfigurationError', (_, given) => {
    expect(() => new EtcdClient({ etcd3: given as never })).toThrow('etcd3 must be an Etcd3 object of etcd3 1.x')
  })

  it.each([
    ['an Etcd3 object', etcd3, '{ etcd3: client }'],
    ['a client of gRPC', { getChannel: () => expect.fail() }, '{ clients: [client] }'],
    ['an address', 'http://user:secret@localhost:2379', "{ endpoints: ['http://localhost:2379'] }"],
  ])('%s in the place of options is a LeaseConfigurationError that says where to put it', (_, given, advice) => {
    for (const make of [() => new EtcdClient(given as never), () => new EtcdLeaseStore(given as never)]) {
      expect(make).toThrow(`EtcdClient takes an object with options: give ${advice}`)
    }
  })

  it('is given alone, because it has addresses, certificates and a user', () => {
    const others = [{ endpoints: ['http://localhost:2379'] }, { tls: {} }, { username: 'u', password: 'p' }]
    for (const other of others) expect(() => new EtcdClient({ etcd3, ...other })).toThrow('give etcd3 alone')
  })
})

import { LeaseConfigurationError } from '@leasehold/core'
import { httpTransport } from '@leasehold/sharding'
import { expect, test } from 'vitest'

const address = 'http://10.0.0.4:7001'
const tls = { ca: '-----BEGIN A', cert: '-----BEGIN B', key: '-----BEGIN C' }

test.each<[string, unknown, string]>([
  ['nothing at all', undefined, 'address must be an URL'],
  [
    'no address',
    {},
    `address must be an URL at which the other processes reach this one, such as 'http://10.0.0.4:7001'`,
  ],
  ['a host and a port', { address: '10.0.0.4:7001' }, 'address must be an URL'],
  ['another protocol', { address: 'tcp://10.0.0.4:7001' }, 'address must be an URL'],
  ['a password in the address', { address: 'http://a:b@10.0.0.4:7001' }, 'use the option secret'],
  ['a query in the address', { address: 'http://10.0.0.4:7001/?a' }, 'address must end with its path'],
  ['all addresses of the machine', { address: 'http://0.0.0.0:7001' }, "set listen: { host: '0.0.0.0' }"],
  ['all addresses of the machine, in IPv6', { address: 'http://[::]:7001' }, "set listen: { host: '0.0.0.0' }"],
  ['a misspelled option', { address, adress: 1 }, "httpTransport has no option 'adress': did you mean 'address'?"],
  [
    'an environment variable that is not set',
    { address, secret: undefined },
    'secret must be a text that is not empty',
  ],
  ['an empty secret', { address, secret: '' }, 'secret must be a text that is not empty'],
  ['https without tls', { address: 'https://10.0.0.4:7001' }, 'tls must have ca, cert and key'],
  ['tls without https', { address, tls }, 'tls needs an address with https'],
  ['tls that is not set', { address: 'https://10.0.0.4', tls: undefined }, 'tls must have ca, cert and key'],
  [
    'the path of a key',
    { address: 'https://10.0.0.4', tls: { ...tls, key: '/etc/key.pem' } },
    'tls.key must be a PEM text',
  ],
  ['no key', { address: 'https://10.0.0.4', tls: { ...tls, key: undefined } }, 'tls.key must be a PEM text'],
  ['port 0 in the own server of the user', { address: 'http://10.0.0.4:0', listen: false }, 'port of your own server'],
  ['listen as a port', { address, listen: 7001 }, 'listen must be { host, port } or false, not 7001'],
  ['a port that there is not', { address, listen: { port: 70_000 } }, 'listen.port must be a port from 0 to 65535'],
  ['an empty host', { address, listen: { host: '' } }, 'listen.host must be a host'],
  ['no body at all', { address, bodyLimit: 0 }, 'bodyLimit must be a whole number of 1 or more, not 0'],
  ['half a request', { address, maxRequests: 0.5 }, 'maxRequests must be a whole number of 1 or more, not 0.5'],
  ['no time', { address, requestTimeout: 0 }, 'requestTimeout must be a positive, finite number of milliseconds'],
])('%s is refused', (_, options, reason) => {
  const create = () => httpTransport(options as never)
  expect(create).toThrow(LeaseConfigurationError)
  expect(create).toThrow(reason)
})

test.each([
  ['http://10.0.0.4:7001', 'http://10.0.0.4:7001'],
  ['http://10.0.0.4:7001/', 'http://10.0.0.4:7001'],
  ['HTTP://Host.internal/a/', 'http://host.internal/a'],
  ['http://[::1]:7001', 'http://[::1]:7001'],
])('%s is shown as %s', (given, shown) => {
  expect(httpTransport({ address: given }).address).toBe(shown)
})

test('no error shows the secret', () => {
  expect(() => httpTransport({ address, secret: 'hush', bodyLimit: -1 })).not.toThrow('hush')
})

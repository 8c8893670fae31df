import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'turns: a subscription without an echo is kept',
    file: 'src/turns.ts',
    find: 'this.#connection === connection) this.#lazy.drop(connection)',
    replace: 'this.#connection === connection) return',
    test: 'test/turns.test.ts',
    name: 'is dropped if there is none within 2 s',
  },
  {
    title: 'turns: a connection whose subscription was refused stays in use',
    file: 'src/turns.ts',
    find: 'this.#connection = undefined\n      this.#lazy.drop(connection)',
    replace: 'this.#connection = undefined',
    test: 'test/turns.test.ts',
    name: 'that is refused leaves no connection open',
  },
  {
    title: 'turns: every waiter waits for the same silent connection',
    file: 'src/turns.ts',
    find: "this.#subscription.giveUpOpening(new Error('the connection is silent'))",
    replace: '',
    test: 'test/turns.test.ts',
    name: 'over a silent connection ends with the first caller',
  },
  {
    title: 'transport: a server with TLS is said not to speak it',
    file: 'src/client/transport.ts',
    find: "resolve(/^[+-]/.test(data.toString('latin1')))",
    replace: 'resolve(data.length > 0)',
    test: 'test/transport.test.ts',
    name: 'is not blamed for a server that refuses to negotiate TLS',
  },
  {
    title: 'transport: a silent server is not asked',
    file: 'src/client/lazy-connection.ts',
    find: 'if (fault !== undefined) reject(fault)',
    replace: '',
    test: 'test/transport.test.ts',
    name: 'made of a URL by ioredis, is found out',
  },
]

import { LeaseConfigurationError, LeaseProvider, MemoryLeaseStore } from '@leasehold/core'
import { ProviderOptions, providerFactory } from '@leasehold/core/store-kit'
import { describe, expect, it } from 'vitest'

const options = new ProviderOptions('example', {
  folder: { type: 'text', example: '"var"', description: 'Where.' },
  password: { type: 'secret', description: 'Of the user.' },
  hosts: {
    type: 'texts',
    description:
      'All of them, each with a port: the text of this description is long enough to need a second line in the file.',
  },
  keepFor: { type: 'duration', default: '7d', description: 'How long.' },
  watch: { type: 'switch', default: 'on', description: 'Whether.' },
  layout: { type: 'choice', words: ['one', 'two'], default: '"one"', description: 'one | two.' },
})

describe('declared options', () => {
  it('are read by their types; absent ones are undefined', () => {
    const block = { folder: 'a', hosts: 'h', keepFor: '2s', watch: 'off', layout: 'two' }
    expect(options.read(block)).toEqual({ ...block, password: undefined, hosts: ['h'], keepFor: 2_000, watch: false })
    expect(options.keys).toEqual(['folder', 'password', 'hosts', 'keepFor', 'watch', 'layout'])
  })

  it.each([
    [{}, 'folder must be given, such as folder = "var"'],
    [{ folder: 'a', keepFor: 'soon' }, 'keep-for must be a duration'],
    [{ folder: 'a', password: 7 }, 'password must be a text, not a number: put it in quotes'],
  ])('that are missing or invalid are a LeaseConfigurationError: %#', (block, message) => {
    expect(() => options.read(block)).toThrow(LeaseConfigurationError)
    expect(() => options.read(block)).toThrow(message)
  })

  it('make a reference.conf', () => {
    expect(options.referenceConf()).toMatchInlineSnapshot(`
      "# The settings of @leasehold/example, with their defaults. Override them in application.conf.
      leasehold.example {
        # The package that makes these leases.
        lease-class = "@leasehold/example"

        # Where.
        # folder = "var"

        # Of the user.
        password = ""

        # All of them, each with a port: the text of this description is long enough to need a second line in the file.
        hosts = []

        # How long.
        keep-for = 7d

        # Whether.
        watch = on

        # one | two.
        layout = "one"
      }
      "
    `)
  })

  it('make a table', () => {
    expect(options.table()).toMatchInlineSnapshot(`
      "| option | default | |
      |---|---|---|
      | \`folder\` | required | Where. |
      | \`password\` |  | Of the user. |
      | \`hosts\` |  | All of them, each with a port: the text of this description is long enough to need a second line in the file. |
      | \`keepFor\` | \`7d\` | How long. |
      | \`watch\` | \`on\` | Whether. |
      | \`layout\` | \`one\` | one \\| two. |
      "
    `)
  })
})

describe('the factory of a provider', () => {
  it('shares a store between leases with the same options, and closes it with the provider', async () => {
    const opened: unknown[] = []
    const factory = providerFactory(options, (values, { leaseName, clock }) => {
      opened.push([values.folder, leaseName, clock])
      return new MemoryLeaseStore()
    })
    const config = {
      leasehold: {
        lease: { 'lease-class': 'example', folder: 'a' },
        same: { 'keep-for': '7d' },
        alike: { 'keep-for': '7d' },
        other: { folder: 'b' },
      },
    }
    await using provider = new LeaseProvider(config, { example: factory })
    const one = await provider.getLease('job', 'leasehold.same')
    const two = await provider.getLease('job', 'leasehold.alike')
    await provider.getLease('job', 'leasehold.other')
    expect(opened).toEqual([
      ['a', 'job', undefined],
      ['b', 'job', undefined],
    ])
    expect([await one.acquire(), await two.acquire()]).toEqual([true, false])
  })
})

import { describe, expect, it } from 'vitest'
import { configOfStore } from './support/config-file.js'
import { TestTerminal } from './support/test-terminal.js'

describe('leasehold verify', () => {
  it('prints how many laws of each family the store keeps, and what it wrote', async () => {
    const terminal = new TestTerminal()
    const { code, output, errors } = await terminal.run('verify --family exclusion --ttl 2s')
    expect({ code, errors }).toEqual({ code: 0, errors: expect.any(String) })
    expect(output).toMatch(/^exclusion\t\d+\t0\t0\n$/)
    expect(errors).toMatch(/^leasehold: \d+ laws on names that begin with leasehold-verify-[\da-f]{8}-\n/)
    expect(errors).toMatch(
      /the local store keeps \d+ laws, breaks 0, and cannot run 0, in .*; the leases on \d+ names are released/,
    )
  })

  it('leaves no lease behind, also of laws on unusual names and on leases without expiry', async () => {
    const terminal = new TestTerminal()
    for (const family of ['names', 'infinite']) {
      const { code, output } = await terminal.run(`verify -f ${family} --ttl 2s -o json`)
      const { kept, broken, names, prefix, laws } = JSON.parse(output)
      expect({ code, broken, laws: laws.length }).toEqual({ code: 0, broken: 0, laws: kept })
      expect(names).toBeGreaterThan(0)
      expect(prefix).toMatch(/^leasehold-verify-/)
    }
    expect(JSON.parse((await terminal.run('list -o json')).output).length).toBeGreaterThan(0)
    expect((await terminal.run('list --held')).output).toBe('')
  })

  it('finds a store that grants a lease twice, and ends with 1', async () => {
    const config = configOfStore('generous-lease')
    const { code, output, errors } = await new TestTerminal().run(`verify -f exclusion --ttl 500ms -c ${config}`)
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringMatching(/breaks [1-9]/) })
    expect(output).toMatch(/^broken: exclusion: .+\n {2}.*another owner should hold the name/m)
  })

  it('writes nothing to a store that does not answer', async () => {
    const { code, output, errors } = await new TestTerminal().run(`verify -c ${configOfStore('dead-lease')}`)
    expect({ code, output, errors }).toEqual({ code: 69, output: '', errors: 'leasehold: there is no server\n' })
  })

  it('suggests a family', async () => {
    const { code, errors } = await new TestTerminal().run('verify --family fenceing')
    expect([code, errors]).toEqual([64, "leasehold: there are no laws of 'fenceing': did you mean 'fencing'?\n"])
  })
})

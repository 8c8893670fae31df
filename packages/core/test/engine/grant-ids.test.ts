import { describe, expect, it } from 'vitest'
import { GrantIds } from '../../src/engine/grant-ids.js'

describe('grant ids', () => {
  it('are GUIDs, each another, and 256 in a row differ in their last two digits only', () => {
    const ids = new GrantIds()
    const made = Array.from({ length: 1_024 }, () => ids.next())
    const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    expect(made.filter((id) => !guid.test(id))).toEqual([])
    expect(new Set(made).size).toBe(1_024)
    expect(new Set(made.map((id) => id.slice(0, -2))).size).toBe(4)
    expect(new Set(made.slice(0, 256).map((id) => id.slice(0, -2))).size).toBe(1)
  })

  it('of two makers are different', () => {
    expect(new GrantIds().next()).not.toBe(new GrantIds().next())
  })
})

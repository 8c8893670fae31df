import { expect, it } from 'vitest'
import { readManifest, root } from '../workspaces.js'

/** The major version of Node that the run was started for, where that was said. */
const asked = process.env.TEST_ON_NODE

it(`the tests run on Node ${process.versions.node}, which the packages admit and which was asked for`, () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  expect(readManifest(root).engines?.node).toBe('>=20.19')
  expect(major * 100 + minor).toBeGreaterThanOrEqual(2019)
  expect(String(major)).toBe(asked ?? String(major))
})

import { expect, it } from 'vitest'
import { readManifest, root } from '../workspaces.js'

/** The major version of Node that CI requested for this run; otherwise `undefined`. */
const requested = process.env.TEST_ON_NODE

it(`the tests run on Node ${process.versions.node}, a supported version and the requested one`, () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  expect(readManifest(root).engines?.node).toBe('>=20.19')
  expect(major * 100 + minor).toBeGreaterThanOrEqual(2019)
  expect(String(major)).toBe(requested ?? String(major))
})

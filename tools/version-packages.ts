import { versionPackages } from './release/version-packages.js'

try {
  const version = versionPackages()
  console.log(`
The version is ${version}. Next:
  1. read the CHANGELOGs, and put right what a user would not understand
  2. npm install && npm run check
  3. commit "release: ${version}", and after the merge: git tag v${version} && git push origin v${version}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

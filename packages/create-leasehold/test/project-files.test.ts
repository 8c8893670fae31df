import { readdirSync, readFileSync } from 'node:fs'
import { loadAllYaml } from '@kubernetes/client-node'
import { describe, expect, it } from 'vitest'
import { packagesImportedBy } from '../../../tools/conventions/imports.js'
import { readManifest, root } from '../../../tools/workspaces.js'
import { recipes, stores } from '../src/choices.js'
import { readPart, templates } from '../src/part.js'
import { projectFiles } from '../src/project-files.js'

const all = stores.flatMap((store) => recipes.map((recipe) => ({ store, recipe })))

interface KubernetesObject {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly [field: string]: unknown }
}

it.each([
  ['stores', stores],
  ['recipes', recipes],
] as const)('there is one part for each of the %s', (kind, ids) => {
  expect(readdirSync(`${templates}${kind}`).sort()).toEqual([...ids].sort())
})

it('the parts ask for versions of packages that this repository is tested with', () => {
  const parts = [...stores.map((id) => readPart('stores', id)), ...recipes.map((id) => readPart('recipes', id))]
  for (const [name, range] of parts.flatMap(({ dependencies }) => Object.entries(dependencies))) {
    const { version } = readManifest(`${root}node_modules/${name}`)
    const [, ...wanted] = range.split(/[^\d]/).map(Number)
    const installed = version.split('.').map(Number)
    expect(installed[0], `${name} ${range}`).toBe(wanted[0])
    expect((installed[1] ?? 0) >= (wanted[1] ?? 0), `${name} ${range}: ${version}`).toBe(true)
  }
})

describe.each(all)('$recipe on $store', ({ store, recipe }) => {
  const files = projectFiles({ name: 'orders', store, recipe, version: '1.2.3' })
  const manifest = JSON.parse(files.get('package.json') ?? '')

  it('has its own name everywhere, and all parts in their places', () => {
    for (const [path, text] of files) {
      expect(path + text).not.toContain('my-service')
      expect(text, path).not.toMatch(/<!-- \w+ -->|NaN|undefined" /)
    }
    expect(manifest.name).toBe('orders')
  })

  it('asks for exactly the packages that it imports, of this release', () => {
    const importedBy = (folder: string) =>
      [...files]
        .filter(([path]) => path.startsWith(folder) && path.endsWith('.js'))
        .flatMap(([, text]) => packagesImportedBy(text))
    const source = new Set(importedBy('src/'))
    expect(Object.keys(manifest.dependencies)).toEqual([...source].sort())
    expect(new Set(importedBy('test').filter((name) => !source.has(name)))).toEqual(
      new Set(Object.keys(manifest.devDependencies)),
    )
    for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
      if (name.startsWith('@leasehold/')) expect(range, name).toBe('^1.2.3')
    }
  })

  it('passes the signal and the fencing token where a reader copies them', () => {
    expect(files.get('src/service.js')).toMatch(/await save\([^\n]+\{ signal, fencingToken \}\)/)
    expect(files.get('src/store.js')).toMatch(/fencingToken, .*\{ signal \}\)/)
  })

  it('has links in its README to files that are there', () => {
    const links = [...(files.get('README.md') ?? '').matchAll(/\]\(((?!https:)[^)]+)\)/g)].map(([, link = '']) => link)
    expect(links.length).toBeGreaterThan(5)
    for (const link of links) {
      const isThere = [...files.keys()].some((path) => path === link || path.startsWith(`${link}/`))
      expect(isThere, link).toBe(true)
    }
  })

  it('has valid manifests: two pods that are ready without the lease, and have time to stop', () => {
    const text = files.get('kubernetes.yaml')
    if (store === 'local') return expect(text).toBeUndefined()
    const objects: readonly KubernetesObject[] = loadAllYaml(text ?? '')
    expect(objects.every(({ kind, metadata }) => kind !== '' && metadata.name === 'orders')).toBe(true)
    expect(objects.find(({ kind }) => kind === 'Deployment')?.spec).toMatchObject({
      replicas: 2,
      template: {
        spec: {
          terminationGracePeriodSeconds: 30,
          serviceAccountName: 'orders',
          containers: [
            { readinessProbe: { httpGet: { path: '/readyz' } }, livenessProbe: { httpGet: { path: '/healthz' } } },
          ],
        },
      },
    })
    expect(objects.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(store === 'kubernetes' ? ['Role', 'RoleBinding', 'ServiceAccount'] : ['Secret']),
    )
    // Docker kills a process 10 s after SIGTERM.
    expect(files.get('src/service.js') ?? '').toMatch(recipe === 'actor' ? /resign/ : /stopTimeout = 8_000/)
  })

  it('has the server of its store for a try, if it has one', () => {
    const text = files.get('compose.yaml')
    const hasNone = store === 'local' || store === 'kubernetes'
    expect(text === undefined).toBe(hasNone)
    if (text === undefined) return
    const [compose] = loadAllYaml(text) as readonly { readonly services: Readonly<Record<string, object>> }[]
    for (const service of Object.values(compose?.services ?? {}))
      expect(service).toMatchObject({ image: expect.any(String) })
  })
})

it('the image runs as another user than root, and node is the process that gets SIGTERM', () => {
  const text = readFileSync(`${templates}common/Dockerfile`, 'utf8')
  const last = text.slice(text.lastIndexOf('FROM'))
  expect(last).toMatch(/^USER node$/m)
  expect(last).toMatch(/^CMD \["node", "src\/main.js"\]$/m)
  expect(last).not.toContain('npm install')
})

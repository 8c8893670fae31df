/** The packages of this repository that each package may import. A package without an entry is a provider. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  config: [],
  actor: ['core'],
  recipes: ['core'],
  // The simulator is not published: it becomes a part of the test kit.
  testkit: ['core', 'simulator'],
  'redis-quorum': ['core', 'redis'],
  'self-fence': ['core'],
  opentelemetry: ['core'],
  'heartbeat-thread': ['core'],
  recorder: ['core'],
  'node-cron': ['core', 'recipes'],
  // The test kit is for the entry `@leasehold/nestjs/testing` only.
  nestjs: ['core', 'recipes', 'testkit'],
  fastify: ['core', 'recipes'],
  // Providers and the test kit are for the entries of their names only.
  sharding: ['core', 'recipes', 'local', 'postgres', 'redis', 'testkit'],
  ui: ['core', 'recipes'],
  codemod: [],
  'create-leasehold': [],
}

const PROVIDER = ['core']

const SCOPE = '@leasehold/'

/** The imports of a package that the layers do not allow. */
export function forbiddenImports(id: string, imports: Iterable<string>): string[] {
  // The command line may use all packages.
  if (id === 'cli') return []
  const allowed = ALLOWED[id] ?? PROVIDER
  return [...imports].filter((name) => name.startsWith(SCOPE) && !allowed.includes(name.slice(SCOPE.length)))
}

/** Which packages of this house a package may need. A package that is not named is a provider: it needs core alone. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  config: [],
  actor: ['core'],
  testkit: ['core'],
}

const PROVIDER = ['core']

const SCOPE = '@leasehold/'

/** The needs of a package, among the names given, that go against the arrows between the layers. */
export function againstTheArrows(id: string, needs: Iterable<string>): string[] {
  // The command line is where everything comes together.
  if (id === 'cli') return []
  const allowed = ALLOWED[id] ?? PROVIDER
  return [...needs].filter((name) => name.startsWith(SCOPE) && !allowed.includes(name.slice(SCOPE.length)))
}

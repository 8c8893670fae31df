import { existsSync } from 'node:fs'

/** The program that `testing/client-go/build.sh` builds: an elector of client-go 0.20.2. */
export const clientGoElector = process.env.CLIENT_GO_ELECTOR ?? ''

/** Why there is no such program here; `undefined` where there is one. */
export const whyNoClientGo: string | undefined = whyNot()

function whyNot(): string | undefined {
  if (clientGoElector === '') {
    return 'CLIENT_GO_ELECTOR is not set: set it to the program that testing/client-go/build.sh builds'
  }
  return existsSync(clientGoElector) ? undefined : `CLIENT_GO_ELECTOR (${clientGoElector}) is no program`
}

import { describeService } from '../support/describe-service.js'

describeService('local', async () => ({ env: {} }))

